import type { Queryable } from '@gantry/db/connect';
import {
  findUnknownLocations,
  insertLocation,
  lockDefaultNetworks,
  updateLocation,
} from '@gantry/db/queries/catalogue/admin-catalogue';
import type { LocationRow } from '@gantry/db/queries/catalogue/catalogue';
import { insertDefaultSubnets } from '@gantry/db/queries/tenants/tenants';
import { notFound, unknownLocation } from '@gantry/model/errors';

/**
 * Inserts a location, and a subnet there for each default network, so that VMs can use it at once.
 */
export async function createLocation(sql: Queryable, location: LocationRow): Promise<LocationRow> {
  await insertLocation(sql, location);
  const networks = await lockDefaultNetworks(sql);
  await insertDefaultSubnets(sql, { networks, location: location.name });
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

/** Throws for the first of the names that is not a location. */
export async function requireLocations(sql: Queryable, names: string[]): Promise<void> {
  const [unknown] = await findUnknownLocations(sql, names);
  if (unknown) throw unknownLocation(unknown.name);
}
