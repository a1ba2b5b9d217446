import type { Queryable } from '@gantry/db/connect';
import { type DeviceRow, updateQuarantine } from '@gantry/db/queries/admin-hosts';
import { notFound } from '@gantry/model/errors';

type Target = { sql: Queryable; deviceId: string };

/** Keeps a device from new VMs; one that has it keeps it. A second reason replaces the first. */
export async function quarantineDevice({
  sql,
  deviceId,
  reason,
}: Target & { reason: string }): Promise<DeviceRow> {
  const device = await updateQuarantine(sql, { deviceId, reason });
  if (!device) throw notFound('device');
  return device;
}

/**
 * Back to VMs, whether an operator or a failed cleaning took it out: an operator who says so has seen
 * to the device.
 */
export async function releaseDevice({ sql, deviceId }: Target): Promise<DeviceRow> {
  return await quarantineDevice({ sql, deviceId, reason: '' });
}
