import type { Queryable, Sql } from '@gantry/db/connect';
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

type Creation = {
  sql: Sql;
  location: LocationRow;
  /** Returns the audit line and the kept reply, which are written with the location. */
  record: (reply: LocationRow) => WriteRecord;
};

/**
 * Inserts a location, and then a subnet there for each default network, so that VMs can use it at once. If
 * this process ends in between, a scheduler adds the rest.
 */
export async function createLocation({ sql, location, record }: Creation): Promise<LocationRow> {
  await transact(sql, async (tx) => {
    await insertLocation(tx, location);
    await insertRecord(tx, record(location));
  });
  await addDefaultSubnets(sql, location.name);
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
