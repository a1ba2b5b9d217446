import type { Queryable } from '../../connect.ts';

/** A VM of a network on a host with an underlay address. The private address is unique in the network. */
export type NetworkMember = {
  host_id: string;
  address: string;
  mac_address: string;
  underlay_address: string;
};

/** Returns the VMs of each network that other hosts can reach. A network without any has no entry. */
export async function readNetworkMembers(
  sql: Queryable,
  networkIds: readonly string[],
): Promise<Map<string, NetworkMember[]>> {
  const rows = await sql<{ network_id: string; members: NetworkMember[] }[]>`
    select n.network_id, json_agg(json_build_object('host_id', p.host_id, 'address', host(c.address),
      'mac_address', n.mac_address, 'underlay_address', host(h.underlay_address))) as members
    from network_interfaces n join placements p on p.vm_id = n.vm_id join hosts h on h.id = p.host_id
    join address_claims c on c.network_interface_id = n.id
    where n.network_id = any(${[...networkIds]}::uuid[]) and h.underlay_address is not null
    group by n.network_id`;
  return new Map(rows.map(({ network_id, members }) => [network_id, members]));
}

/**
 * Raises the spec numbers of hosts whose agents get the VMs of their networks in the spec, because they
 * are of an earlier version.
 */
export async function raiseNumbersForMembers(sql: Queryable, hostIds: string[]): Promise<void> {
  await sql`select bump_peers(${hostIds}::uuid[])`;
}
