import { findFreeBlock, formatCidr, parseCidr } from '@gantry/model/cidr';
import { DEFAULT_NETWORK } from '@gantry/model/default-network';
import { newId } from '@gantry/model/ids';
import type { Queryable, Sql } from '../../connect.ts';
import { transact } from '../../transact.ts';

/** An advisory lock: shared by transactions that create projects, exclusive for a new location. */
export const LOCATIONS_LOCK = 7_204_118;
/** Other transactions wait for the networks of one batch and for their hosts. */
const BATCH_NETWORKS = 20;

type DefaultNetwork = { id: string; project_id: string };

/** Adds subnets in the locations to a new default network, unless it is full. */
export async function insertSubnetsOfNetwork(
  sql: Queryable,
  network: DefaultNetwork,
): Promise<void> {
  // In a statement of its own: the next one sees every location that was added before it had the lock.
  await sql`select pg_advisory_xact_lock_shared(${LOCATIONS_LOCK})`;
  const locations = await sql<{ name: string }[]>`select name from locations order by name`;
  for (const { name } of locations)
    await insertSubnets(sql, { networks: [network], location: name });
}

/**
 * Adds a subnet in a new location to every default network that has room, a few networks at a time. It may
 * be called again: after a crash, and by several processes at the same time.
 */
export async function addDefaultSubnets(sql: Sql, location: string): Promise<void> {
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) {
    const last: string = after;
    after = await transact(sql, async (tx) => {
      const networks = await lockDefaultNetworks(tx, { after: last });
      await insertSubnets(tx, { networks, location });
      return networks.at(-1)?.id;
    });
  }
  await sql`update locations set has_subnets = true where name = ${location}`;
}

/** Lists the locations in which default networks lack a subnet, because a process has ended too early. */
export async function listLocationsWithoutSubnets(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from locations where not has_subnets`;
  return rows.map(({ name }) => name);
}

/**
 * Locks the next default networks that can get another subnet, and the spec numbers of their hosts in the
 * order of ids, because each subnet changes some of them.
 */
async function lockDefaultNetworks(
  sql: Queryable,
  { after }: { after: string },
): Promise<DefaultNetwork[]> {
  const networks = await sql<DefaultNetwork[]>`
    select n.id, n.project_id from networks n
    join quotas q on q.project_id = n.project_id and q.type = 'subnets' and q.used < q.max
    where n.is_default and n.id > ${after} order by n.id limit ${BATCH_NETWORKS} for no key update of n`;
  const ids = networks.map(({ id }) => id);
  await sql`select from host_revisions where host_id in (select hosts_in_networks(${ids}::uuid[]))
    order by host_id for update`;
  return networks;
}

async function insertSubnets(
  sql: Queryable,
  { networks, location }: { networks: readonly DefaultNetwork[]; location: string },
): Promise<void> {
  const ids = networks.map(({ id }) => id);
  const subnets = await sql<{ network_id: string; cidrs: string[] }[]>`
    select network_id, array_agg(cidr::text) as cidrs from subnets where network_id = any(${ids}::uuid[])
    group by network_id`;
  const taken = new Map(subnets.map(({ network_id, cidrs }) => [network_id, cidrs]));
  const added = networks.flatMap(({ id, project_id: projectId }) => {
    const cidr = freeDefaultBlock(taken.get(id) ?? []);
    return cidr === undefined ? [] : [{ id: newId(), networkId: id, projectId, cidr }];
  });
  await sql`insert into subnets (id, project_id, network_id, location, name, cidr)
    select id, project_id, network_id, ${location}, ${defaultSubnetName(location)}, cidr::cidr
    from unnest(${added.map(({ id }) => id)}::uuid[], ${added.map(({ projectId }) => projectId)}::uuid[],
      ${added.map(({ networkId }) => networkId)}::uuid[], ${added.map(({ cidr }) => cidr)}::text[])
      as a (id, project_id, network_id, cidr)
    on conflict on constraint subnets_name_key do nothing`;
}

const defaultSubnetName = (location: string) => `default-${location}`.slice(0, 63);

/** Returns undefined if the network is full. */
function freeDefaultBlock(takenCidrs: readonly string[]): string | undefined {
  const taken = takenCidrs.flatMap((cidr) => parseCidr(cidr) ?? []);
  const outer = parseCidr(DEFAULT_NETWORK.cidr);
  const block = outer && findFreeBlock(outer, DEFAULT_NETWORK.subnetPrefix, taken);
  return block && formatCidr(block);
}
