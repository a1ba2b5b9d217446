import type { Queryable } from '../../connect.ts';

/** What was read from a device, by name. */
export type DeviceValues = Record<string, number>;

type NewReading = { pciAddress: string; measured: DeviceValues };

/** Keeps the last values of the present hour for each device. */
export async function upsertDeviceReadings(
  sql: Queryable,
  { hostId, readings }: { hostId: string; readings: readonly NewReading[] },
): Promise<void> {
  await sql`insert into device_readings (device_id, hour, at, measured)
    select d.id, date_trunc('hour', now(), 'UTC'), now(), r.measured
    from json_to_recordset(${JSON.stringify(readings)}::text::json) as r("pciAddress" text, measured jsonb)
      join devices d on d.host_id = ${hostId} and d.pci_address = r."pciAddress"
    on conflict (device_id, hour) do update set at = excluded.at, measured = excluded.measured`;
}

export type DeviceReadingRow = { at: Date; measured: DeviceValues };

/** Returns the readings of the last hours, oldest first, and before them the one that was valid when they began. */
export async function listDeviceReadings(
  sql: Queryable,
  { deviceId, hours }: { deviceId: string; hours: number },
): Promise<DeviceReadingRow[]> {
  return await sql<DeviceReadingRow[]>`
    select at, measured from device_readings r where device_id = ${deviceId}
      and hour >= coalesce((select max(hour) from device_readings
        where device_id = ${deviceId} and at < now() - ${hours}::int * interval '1 hour'), '-infinity')
    order by hour`;
}
