import type { Queryable } from '@gantry/db/connect';
import { type DeviceRow, updateQuarantine, updateReleased } from '@gantry/db/queries/admin-hosts';
import { notFound } from '@gantry/model/errors';

type Target = { sql: Queryable; deviceId: string };

/** Keeps a device from new VMs; one that has it keeps it. A second reason replaces the first. */
export async function quarantineDevice({
  sql,
  deviceId,
  reason,
}: Target & { reason: string }): Promise<DeviceRow> {
  return found(await updateQuarantine(sql, { deviceId, reason }));
}

/**
 * Back to VMs, whether an operator, a failed cleaning or a lasting problem took it out: an operator who
 * says so has seen to the device. What is still wrong with it to be seen keeps it from VMs all the same.
 */
export async function releaseDevice({ sql, deviceId }: Target): Promise<DeviceRow> {
  return found(await updateReleased(sql, deviceId));
}

function found(device: DeviceRow | undefined): DeviceRow {
  if (!device) throw notFound('device');
  return device;
}
