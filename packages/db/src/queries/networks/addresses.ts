import type { Queryable } from '../../connect.ts';

/** A part of a subnet, both ends included. */
export type AddressRange = { subnetId: string; from: string; to: string };
export type TakenAddress = { subnet_id: string; address: string };

/**
 * The private addresses in each range that VMs have claimed or that orphans have. "offset 0" makes PostgreSQL
 * look up each range by index: planned for all values, a range counts as a large part of the table.
 */
export async function listTakenAddresses(
  sql: Queryable,
  ranges: readonly AddressRange[],
): Promise<TakenAddress[]> {
  return await sql<TakenAddress[]>`
    select c.subnet_id, host(c.address) as address
    from unnest(${ranges.map(({ subnetId }) => subnetId)}::uuid[], ${ranges.map(({ from }) => from)}::text[],
      ${ranges.map(({ to }) => to)}::text[]) as r (subnet_id, first, last)
    cross join lateral (select subnet_id, address from address_claims
      where subnet_id = r.subnet_id and address between r.first::inet and r.last::inet offset 0) c
    union select s.id, host(i.private_address) from orphan_interfaces i
    join subnets s on s.network_id = i.network_id and i.private_address <<= s.cidr
    where s.id = any(${ranges.map(({ subnetId }) => subnetId)}::uuid[])`;
}
