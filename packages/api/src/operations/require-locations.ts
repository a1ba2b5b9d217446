import type { Queryable } from '@gantry/db/connect';
import { findUnknownLocations } from '@gantry/db/queries/admin-catalogue';
import { CloudError } from '@gantry/model/errors';

export async function requireLocations(sql: Queryable, locations: string[]): Promise<void> {
  const [unknown] = await findUnknownLocations(sql, locations);
  if (unknown) {
    throw new CloudError(
      'unknown_location',
      `there is no location "${unknown.name}": see GET /v0.1/locations`,
    );
  }
}
