import type { Queryable } from '@gantry/db/connect';
import {
  insertLocation,
  lockDefaultNetworks,
  updateLocation,
} from '@gantry/db/queries/admin-catalogue';
import type { LocationRow } from '@gantry/db/queries/catalogue';
import { insertDefaultSubnet } from '@gantry/db/queries/tenants';
import { notFound } from '@gantry/model/errors';

/** A new location is usable at once: every project's default network gets its subnet there. */
export async function createLocation(sql: Queryable, location: LocationRow): Promise<LocationRow> {
  await insertLocation(sql, location);
  for (const network of await lockDefaultNetworks(sql)) {
    await insertDefaultSubnet(sql, {
      projectId: network.project_id,
      networkId: network.id,
      location: location.name,
    });
  }
  return location;
}

export async function changeLocation(
  sql: Queryable,
  change: { name: string; description: string },
): Promise<LocationRow> {
  const location = await updateLocation(sql, change);
  if (!location) throw notFound('location');
  return location;
}
