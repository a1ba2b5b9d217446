import type { Queryable } from '@gantry/db/connect';
import {
  countPublicAddresses,
  findAddressElsewhere,
  insertPublicAddresses,
  isPublicAddress,
  type PublicAddressRow,
  removeFreePublicAddress,
} from '@gantry/db/queries/networks/public-addresses';
import { formatIpv4, parseCidr } from '@gantry/model/cidr';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireLocations } from '../../catalogue/change-locations.ts';
import type { AddedPublicAddresses, AddPublicAddresses } from './schema.ts';

type Addition = { sql: Queryable; body: z.output<typeof AddPublicAddresses>; now: Date };

/**
 * Adds every address of the block, or none. Addresses that the location already has stay as they
 * are.
 */
export async function addPublicAddresses({
  sql,
  body: { location, cidr },
  now,
}: Addition): Promise<z.output<typeof AddedPublicAddresses>> {
  await requireLocations(sql, [location]);
  const added = await insertPublicAddresses(sql, { location, addresses: addressesOf(cidr, now) });
  // This check comes after the insert, which has waited for concurrent inserts of the same
  // addresses.
  const elsewhere = await findAddressElsewhere(sql, { location, cidr });
  if (elsewhere) {
    throw new CloudError(
      'conflict',
      `the address ${elsewhere.address} belongs to ${elsewhere.location}: delete it there first`,
    );
  }
  return { added, total: await countPublicAddresses(sql, location) };
}

/** The ids have the order of the addresses, because lists are sorted by id. */
function addressesOf(cidr: string, now: Date): { id: string; address: string }[] {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`BUG: the schema accepted the cidr ${cidr}`);
  const size = block.last - block.first + 1;
  const ids = Array.from({ length: size }, () => newId(now.getTime())).sort();
  return ids.map((id, offset) => ({ id, address: formatIpv4(block.first + offset) }));
}

export async function deletePublicAddress(
  sql: Queryable,
  publicAddressId: string,
): Promise<PublicAddressRow> {
  const row = await removeFreePublicAddress(sql, publicAddressId);
  if (row) return row;
  if (!(await isPublicAddress(sql, publicAddressId))) throw notFound('public address');
  throw new CloudError(
    'conflict',
    'a VM has this public address, or a project has reserved it: try again after it was released',
  );
}
