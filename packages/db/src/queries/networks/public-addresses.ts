import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';

/** The pools of public addresses of the locations. */

export type PublicAddressRow = {
  id: string;
  address: string;
  location: string;
  vm_id: string | null;
  /** The project that has reserved it. */
  project_id: string | null;
};

export type PublicAddressFilter = IdListing & { location: string | null };

export async function listPublicAddresses(
  sql: Queryable,
  filter: PublicAddressFilter,
): Promise<PublicAddressRow[]> {
  return await sql<PublicAddressRow[]>`
    select a.id, host(a.address) as address, a.location, n.vm_id, r.project_id
    from public_addresses a left join network_interfaces n on n.id = a.network_interface_id
    left join reserved_addresses r on r.public_address_id = a.id
    where ${listedByIds(sql, filter, sql`a.`)}
      and (${filter.location}::text is null or a.location = ${filter.location})
    ${idOrder(sql, filter, sql`a.`)}`;
}

/** Returns how many addresses are new in the installation. */
export async function insertPublicAddresses(
  sql: Queryable,
  { location, addresses }: { location: string; addresses: { id: string; address: string }[] },
): Promise<number> {
  const { count } = await sql`insert into public_addresses (id, location, address)
    select id, ${location}, address::inet
    from unnest(${addresses.map(({ id }) => id)}::uuid[],
      ${addresses.map(({ address }) => address)}::text[]) as given (id, address)
    on conflict (address) do nothing`;
  return count;
}

/** Returns an address of the block that belongs to another location. */
export async function findAddressElsewhere(
  sql: Queryable,
  { location, cidr }: { location: string; cidr: string },
): Promise<{ address: string; location: string } | undefined> {
  const [row] = await sql<{ address: string; location: string }[]>`
    select host(address) as address, location from public_addresses
    where address <<= ${cidr}::inet and location <> ${location} order by public_addresses.address limit 1`;
  return row;
}

export async function countPublicAddresses(sql: Queryable, location: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total from public_addresses where location = ${location}`;
  return row?.total ?? 0;
}

/** An address that a VM gets or a project reserves at the same moment is not removed. */
export async function removeFreePublicAddress(
  sql: Queryable,
  publicAddressId: string,
): Promise<PublicAddressRow | undefined> {
  const [row] = await sql<PublicAddressRow[]>`
    delete from public_addresses where id = ${publicAddressId} and network_interface_id is null and not reserved
    returning id, host(address) as address, location, null::uuid as vm_id, null::uuid as project_id`;
  return row;
}

export async function isPublicAddress(sql: Queryable, publicAddressId: string): Promise<boolean> {
  const rows = await sql`select from public_addresses where id = ${publicAddressId}`;
  return rows.length > 0;
}
