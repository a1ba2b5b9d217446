import type { Queryable } from '@gantry/db/connect';
import {
  type DeviceRow,
  updateQuarantine,
  updateReleased,
} from '@gantry/db/queries/hosts/admin-hosts';
import { found } from '@gantry/model/errors';

type Target = { sql: Queryable; deviceId: string };

/**
 * Keeps new VMs from getting a device; a VM that has it keeps it. A new reason replaces the old
 * one.
 */
export async function quarantineDevice({
  sql,
  deviceId,
  reason,
}: Target & { reason: string }): Promise<DeviceRow> {
  return found(await updateQuarantine(sql, { deviceId, reason }), 'device');
}

/**
 * Gives the device to VMs again after a quarantine, a failed cleaning or a problem that lasts until
 * release: an operator who calls this has looked at the device. A problem that the host still
 * reports keeps new VMs from the device all the same.
 */
export async function releaseDevice({ sql, deviceId }: Target): Promise<DeviceRow> {
  return found(await updateReleased(sql, deviceId), 'device');
}
