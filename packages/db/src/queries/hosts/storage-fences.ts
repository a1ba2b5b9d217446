import type { Queryable } from '../../connect.ts';

/** Fences of hosts in storage clusters. scheduler/src/fencing carries them out. */

/** A volume that a client of a host may have open. */
export type ExposedVolume = {
  cluster_id: string;
  cluster: string;
  pool: string;
  /** Empty unless it is a shared volume. */
  file_system: string;
  /** The disk's id, which is the volume's name. */
  name: string;
  /** The host has proved that it closed the volume; only its key is not removed yet. */
  released: boolean;
  /** Another host has a key of the volume too. */
  elsewhere: boolean;
};

export type HostToFence = {
  id: string;
  location: string;
  /** Null: its agent has never reported one. */
  storage_address: string | null;
  /** Whether a host that is not fenced has the same address. */
  shares_address: boolean;
  storage_fence_problem: string;
};

export async function listHostsToFence(sql: Queryable): Promise<HostToFence[]> {
  return await sql<HostToFence[]>`
    select h.id, h.location, host(h.storage_address) as storage_address, h.storage_fence_problem,
      exists (select from hosts o where o.id <> h.id and o.storage_address = h.storage_address and o.fenced_at is null)
        as shares_address
    from hosts h where h.fenced_at is not null and h.state <> 'fenced' order by h.id limit 50`;
}

/** The volumes of the VMs that are placed on the host, and those of which it has a key. */
const exposures = (sql: Queryable, hostId: string) => sql`
  select d.id as disk_id, d.pool_id, false as released from placements p
    join disk_attachments a on a.vm_id = p.vm_id join disks d on d.id = a.disk_id
    where p.host_id = ${hostId} and d.pool_id is not null
  union all select disk_id, pool_id, revoked from volume_keys where host_id = ${hostId}`;

export async function listExposedVolumes(sql: Queryable, hostId: string): Promise<ExposedVolume[]> {
  return await sql<ExposedVolume[]>`
    select s.cluster_id, c.name as cluster, s.name as pool, s.file_system, e.disk_id as name, bool_and(e.released) as released,
      exists (select from volume_keys k where k.disk_id = e.disk_id and k.host_id <> ${hostId} and not k.revoked)
        as elsewhere
    from (${exposures(sql, hostId)}) e join storage_pools s on s.id = e.pool_id
    join storage_clusters c on c.id = s.cluster_id
    group by s.cluster_id, c.name, s.name, s.file_system, e.disk_id order by s.cluster_id, s.name, e.disk_id`;
}

/** Whether each storage cluster in which the host may have a volume open has its fence in effect. */
export async function areVolumesFenced(sql: Queryable, hostId: string): Promise<boolean> {
  const rows =
    await sql`select from (${exposures(sql, hostId)}) e join storage_pools s on s.id = e.pool_id
    where not exists (select from storage_fences f
      where f.cluster_id = s.cluster_id and f.host_id = ${hostId} and f.effective_at is not null) limit 1`;
  return rows.length === 0;
}

/** Lists the keys of the host that the cluster may still have. */
export async function listKeysOfHost(
  sql: Queryable,
  { clusterId, hostId }: FenceKey,
): Promise<string[]> {
  const rows = await sql<{ entity: string }[]>`select k.entity from volume_keys k
    join storage_pools s on s.id = k.pool_id where k.host_id = ${hostId} and s.cluster_id = ${clusterId}
    order by k.entity`;
  return rows.map(({ entity }) => entity);
}

export type FenceKey = { clusterId: string; hostId: string };
export type StorageFence = { addresses: string[]; effective: boolean };

export async function readStorageFence(
  sql: Queryable,
  { clusterId, hostId }: FenceKey,
): Promise<StorageFence | undefined> {
  const [row] = await sql<StorageFence[]>`select addresses, effective_at is not null as effective
    from storage_fences where cluster_id = ${clusterId} and host_id = ${hostId}`;
  return row;
}

/** Idempotent: the addresses of the first time stay, because the cluster may have them already. */
export async function insertStorageFence(
  sql: Queryable,
  { clusterId, hostId, addresses }: FenceKey & { addresses: readonly string[] },
): Promise<StorageFence> {
  await sql`insert into storage_fences (cluster_id, host_id, addresses)
    values (${clusterId}, ${hostId}, ${[...addresses]}) on conflict do nothing`;
  const fence = await readStorageFence(sql, { clusterId, hostId });
  if (!fence) throw new Error('BUG: a fence that was just written is missing');
  return fence;
}

export async function updateFenceEffective(
  sql: Queryable,
  { clusterId, hostId }: FenceKey,
): Promise<void> {
  await sql`update storage_fences set effective_at = now()
    where cluster_id = ${clusterId} and host_id = ${hostId} and effective_at is null`;
}

/** Returns false if the problem was the same before. */
export async function updateStorageFenceProblem(
  sql: Queryable,
  { hostId, problem }: { hostId: string; problem: string },
): Promise<boolean> {
  const { count } = await sql`update hosts set storage_fence_problem = ${problem}
    where id = ${hostId} and storage_fence_problem <> ${problem}`;
  return count > 0;
}

/**
 * Marks fences whose server is back. A fenced server comes back as a new host. It is the same server if it has a
 * network card of the fenced one, and the proof that no VM of before the fence runs is a report of the new host, about
 * a spec that it has accepted, without a VM that the database does not place there.
 */
export async function updateFencesLiftable(
  sql: Queryable,
  locations: readonly string[],
): Promise<FenceKey[]> {
  const rows = await sql<{ cluster_id: string; host_id: string }[]>`
    update storage_fences f set liftable = true from hosts dead
    where dead.id = f.host_id and dead.location = any(${[...locations]}::text[]) and not f.liftable and f.effective_at is not null and dead.state = 'fenced'
      and exists (select from hosts back where back.fenced_at is null and back.created_at > f.created_at
        and back.state = 'ready' and back.scheduler_id is not null and not back.awaits_era
        and back.accepted_number > 0 and back.refusal = ''
        and back.unknown_vms = '{}' and back.unresponsive_vms = '[]'
        and not exists (select from orphans o where o.host_id = back.id)
        and exists (select from jsonb_path_query(dead.inventory, '$.nics[*].mac ? (@ <> "")') mac
          where mac in (select jsonb_path_query(back.inventory, '$.nics[*].mac'))))
    returning f.cluster_id, f.host_id`;
  return rows.map(toKey);
}

/** An operator states that no VM of the fenced host runs any more. */
export async function updateFencesOfHostLiftable(sql: Queryable, hostId: string): Promise<void> {
  await sql`update storage_fences set liftable = true where host_id = ${hostId} and effective_at is not null`;
}

export async function listLiftableFences(
  sql: Queryable,
  locations: readonly string[],
): Promise<(FenceKey & { addresses: string[] })[]> {
  const rows = await sql<{ cluster_id: string; host_id: string; addresses: string[] }[]>`
    select cluster_id, host_id, addresses from storage_fences f
    where liftable and ${isHere(sql, locations)} order by cluster_id, host_id limit 50`;
  return rows.map((row) => ({ ...toKey(row), addresses: row.addresses }));
}

/** Returns the addresses that the fences of other hosts in the cluster need. */
export async function listAddressesKept(
  sql: Queryable,
  { clusterId, hostId }: FenceKey,
): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select distinct unnest(addresses) as address from storage_fences
    where cluster_id = ${clusterId} and host_id <> ${hostId} and not liftable`;
  return rows.map(({ address }) => address);
}

export async function removeStorageFence(
  sql: Queryable,
  { clusterId, hostId }: FenceKey,
): Promise<void> {
  // Placement reads the hosts with the address again.
  await sql`with lifted as (delete from storage_fences
      where cluster_id = ${clusterId} and host_id = ${hostId} and liftable returning addresses)
    update host_revisions set changed_xid = pg_current_xact_id() where host_id in (select h.id from hosts h, lifted
      where host(h.storage_address) = any(lifted.addresses) and h.fenced_at is null)`;
}

/** One scheduler lifts and renews a fence: the holder of the lease of the host's location. */
const isHere = (sql: Queryable, locations: readonly string[]) => sql`exists (select from hosts h
  where h.id = f.host_id and h.location = any(${[...locations]}::text[]))`;

/** Lists what must be fenced in each cluster, so that an entry that was lost there is added again. */
export async function listLastingFences(
  sql: Queryable,
  locations: readonly string[],
): Promise<{ clusterId: string; addresses: string[] }[]> {
  const rows = await sql<{ cluster_id: string; addresses: string[] }[]>`
    select cluster_id, array_agg(distinct address order by address) as addresses
    from storage_fences f, unnest(addresses) address
    where not liftable and effective_at is not null and ${isHere(sql, locations)} group by cluster_id`;
  return rows.map(({ cluster_id, addresses }) => ({ clusterId: cluster_id, addresses }));
}

export async function countFencesOfHost(sql: Queryable, hostId: string): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::integer as count from storage_fences where host_id = ${hostId}`;
  return row?.count ?? 0;
}

function toKey(row: { cluster_id: string; host_id: string }): FenceKey {
  return { clusterId: row.cluster_id, hostId: row.host_id };
}
