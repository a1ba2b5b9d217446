import type { Queryable } from '../../connect.ts';

/** A part of a subnet, both ends included. */
export type AddressRange = { subnetId: string; from: string; to: string };
export type TakenAddress = { subnet_id: string; address: string };

/** The private addresses that are claimed in each range. */
export async function listTakenAddresses(
  sql: Queryable,
  ranges: readonly AddressRange[],
): Promise<TakenAddress[]> {
  return await sql<TakenAddress[]>`
    select c.subnet_id, host(c.address) as address
    from unnest(${ranges.map(({ subnetId }) => subnetId)}::uuid[], ${ranges.map(({ from }) => from)}::text[],
      ${ranges.map(({ to }) => to)}::text[]) as r (subnet_id, first, last)
    join address_claims c on c.subnet_id = r.subnet_id and c.address between r.first::inet and r.last::inet`;
}
