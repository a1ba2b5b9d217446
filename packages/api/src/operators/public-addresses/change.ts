import type { Queryable } from '@gantry/db/connect';
import {
  countPublicAddresses,
  findAddressElsewhere,
  insertPublicAddresses,
  isPublicAddress,
  type PublicAddressRow,
  removeFreePublicAddress,
} from '@gantry/db/queries/public-addresses';
import { formatIpv4, parseCidr } from '@gantry/model/cidr';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireLocations } from '../../catalogue/require-locations.ts';
import type { AddedPublicAddresses, AddPublicAddresses } from './schema.ts';

type Addition = { sql: Queryable; body: z.output<typeof AddPublicAddresses>; now: Date };

/** Every address of the block, or none. What the location has already stays as it is. */
export async function addPublicAddresses({
  sql,
  body: { location, cidr },
  now,
}: Addition): Promise<z.output<typeof AddedPublicAddresses>> {
  await requireLocations(sql, [location]);
  const added = await insertPublicAddresses(sql, { location, addresses: addressesOf(cidr, now) });
  // Looked for afterwards: an address that is being added elsewhere was waited for by then.
  const elsewhere = await findAddressElsewhere(sql, { location, cidr });
  if (elsewhere) {
    throw new CloudError(
      'conflict',
      `${elsewhere.address} is in ${elsewhere.location}: remove it there first`,
    );
  }
  return { added, total: await countPublicAddresses(sql, location) };
}

/** With ids in the order of the addresses, so that lists have them in that order too. */
function addressesOf(cidr: string, now: Date): { id: string; address: string }[] {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`BUG: ${cidr} is no CIDR`);
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
    'a VM has this public address: it can go once the VM gave it up',
  );
}
