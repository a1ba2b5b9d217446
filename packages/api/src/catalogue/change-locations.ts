import type { Queryable } from '@gantry/db/connect';
import {
  findUnknownLocations,
  insertLocation,
  updateLocation,
} from '@gantry/db/queries/catalogue/admin-catalogue';
import type { LocationRow } from '@gantry/db/queries/catalogue/catalogue';
import { addDefaultSubnets } from '@gantry/db/queries/catalogue/default-subnets';
import { insertRecord, type WriteRecord } from '@gantry/db/queries/operations/records';
import { transact } from '@gantry/db/transact';
import { notFound, unknownLocation } from '@gantry/model/errors';
import type { Request } from '../http/route.ts';

/**
 * Inserts a location, and then a subnet there for each default network, so that VMs can use it at once. If
 * this process ends in between, a scheduler adds the rest.
 */
export async function createLocation(
  { deps, body }: Pick<Request<unknown, unknown, LocationRow>, 'deps' | 'body'>,
  record: (reply: LocationRow) => WriteRecord,
): Promise<LocationRow> {
  await transact(deps.sql, async (sql) => {
    await insertLocation(sql, body);
    await insertRecord(sql, record(body));
  });
  await addDefaultSubnets(deps.sql, body.name);
  return body;
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
