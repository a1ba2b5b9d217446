import type { Queryable } from '../../connect.ts';
import { type Listing, listed } from '../listing.ts';
import { direction } from '../page-bounds.ts';

/** The public addresses that a project has reserved. */

export type ReservedAddressRow = {
  id: string;
  name: string;
  address: string;
  location: string;
  /** The VM that it is attached to. */
  vm_id: string | null;
  tags: Record<string, string>;
  created_at: Date;
};

type AddressKey = { projectId: string; addressId: string };

const columns = (sql: Queryable) =>
  sql`r.id, r.name, host(p.address) as address, p.location, n.vm_id, r.tags, r.created_at`;
const joins = (sql: Queryable) => sql`join public_addresses p on p.id = r.public_address_id
  left join network_interfaces n on n.id = r.network_interface_id`;

export async function listReservedAddresses(
  sql: Queryable,
  listing: Listing,
): Promise<ReservedAddressRow[]> {
  return await sql<ReservedAddressRow[]>`select ${columns(sql)}
    from (select * from reserved_addresses where ${listed(sql, listing)}) r ${joins(sql)} order by r.id ${direction(sql, listing)}`;
}

export async function readReservedAddress(
  sql: Queryable,
  { projectId, addressId }: AddressKey,
): Promise<ReservedAddressRow | undefined> {
  const [row] = await sql<
    ReservedAddressRow[]
  >`select ${columns(sql)} from reserved_addresses r ${joins(sql)}
    where r.project_id = ${projectId} and r.id = ${addressId}`;
  return row;
}

/** Locks the address against being attached, detached, changed or released by another transaction. */
export async function lockReservedAddress(
  sql: Queryable,
  { projectId, addressId }: AddressKey,
): Promise<ReservedAddressRow | undefined> {
  await sql`select from reserved_addresses
    where project_id = ${projectId} and id = ${addressId} for no key update`;
  return await readReservedAddress(sql, { projectId, addressId });
}

export type NewReservation = {
  id: string;
  projectId: string;
  name: string;
  location: string;
  tags: Record<string, string>;
  at: Date;
};

/**
 * Reserves the address of the pool that has been free for the longest time. An address that rests after its
 * release is used only for the project that had it, and only if no other is left: as in
 * `assign_public_addresses`. Returns false if no address is free.
 */
export async function insertReservation(sql: Queryable, made: NewReservation): Promise<boolean> {
  const rested = sql`(released_at is null or released_at <= now() - interval '15 minutes')`;
  const { count } = await sql`
    with free as (select id from public_addresses a
      where location = ${made.location} and network_interface_id is null and not reserved
        and (${rested} or last_project_id = ${made.projectId})
        and not exists (select from orphan_interfaces i where i.public_address = a.address)
      order by ${rested} desc, released_at nulls first limit 1 for update skip locked)
    insert into reserved_addresses (id, project_id, name, public_address_id, tags, created_at)
    select ${made.id}, ${made.projectId}, ${made.name}, id, ${JSON.stringify(made.tags)}::text::jsonb, ${made.at} from free`;
  return count > 0;
}

/** The caller has locked the address. A trigger returns it to the pool. */
export async function removeReservedAddress(sql: Queryable, addressId: string): Promise<void> {
  await sql`delete from reserved_addresses where id = ${addressId} and network_interface_id is null`;
}

/** The caller has locked the VM, which no host has, and the address. */
export async function updateAddressAttached(
  sql: Queryable,
  { addressId, vmId }: { addressId: string; vmId: string },
): Promise<void> {
  await sql`update reserved_addresses set network_interface_id =
      (select id from network_interfaces where vm_id = ${vmId} order by name limit 1)
    where id = ${addressId}`;
}

export async function updateAddressDetached(sql: Queryable, addressId: string): Promise<void> {
  await sql`update reserved_addresses set network_interface_id = null where id = ${addressId}`;
}

/** Returns whether a host has the VM or may have it. */
export async function isVmPlaced(sql: Queryable, vmId: string): Promise<boolean> {
  const rows = await sql`select from vms where id = ${vmId} and placed`;
  return rows.length > 0;
}
