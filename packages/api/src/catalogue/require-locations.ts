import type { Queryable } from '@gantry/db/connect';
import { findUnknownLocations } from '@gantry/db/queries/admin-catalogue';
import { unknownLocation } from '@gantry/model/errors';

export async function requireLocations(sql: Queryable, locations: string[]): Promise<void> {
  const [unknown] = await findUnknownLocations(sql, locations);
  if (unknown) {
    throw unknownLocation(unknown.name);
  }
}
