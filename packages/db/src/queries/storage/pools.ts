import type { Queryable } from '../../connect.ts';

export type ClusterRow = {
  id: string;
  name: string;
  monitors: string[];
  user_name: string;
  fsid: string;
  problem: string;
};

export async function readCluster(
  sql: Queryable,
  clusterId: string,
): Promise<ClusterRow | undefined> {
  const [row] = await sql<ClusterRow[]>`
    select id, name, monitors, user_name, fsid, problem from storage_clusters where id = ${clusterId}`;
  return row;
}

/** Records which cluster this is. Returns the id that is stored, which is another one if the cluster was replaced. */
export async function updateFsid(
  sql: Queryable,
  { clusterId, fsid }: { clusterId: string; fsid: string },
): Promise<string> {
  await sql`update storage_clusters set fsid = ${fsid} where id = ${clusterId} and fsid = ''`;
  const cluster = await readCluster(sql, clusterId);
  return cluster?.fsid ?? fsid;
}

export async function updateClusterProblem(
  sql: Queryable,
  { clusterId, problem }: { clusterId: string; problem: string },
): Promise<void> {
  await sql`update storage_clusters set problem = ${problem} where id = ${clusterId} and problem <> ${problem}`;
}

export type PoolRow = {
  id: string;
  cluster_id: string;
  name: string;
  /** Empty: the pool stores block devices. */
  file_system: string;
  location: string;
};

export async function listPoolsOf(
  sql: Queryable,
  locations: readonly string[],
): Promise<PoolRow[]> {
  return await sql<PoolRow[]>`select id, cluster_id, name, file_system, location from storage_pools
    where location = any(${[...locations]}::text[]) order by id`;
}

/** The size of all volumes together is that of all disks and images of the pool. */
export async function updatePoolSpace(
  sql: Queryable,
  space: { poolId: string; sizeGib: number | null; usedGib: number; problem: string },
): Promise<void> {
  await sql`update storage_pools q set size_gib = ${space.sizeGib}, used_gib = ${space.usedGib}, observed_at = now(),
      problem = ${space.problem}, allocated_gib = ${allocated(sql)} where id = ${space.poolId}`;
}

/** The pool could not be read; the last figures stay. */
export async function updatePoolProblem(
  sql: Queryable,
  { poolId, problem }: { poolId: string; problem: string },
): Promise<void> {
  await sql`update storage_pools q set problem = ${problem}, allocated_gib = ${allocated(sql)} where id = ${poolId}`;
}

const allocated = (
  sql: Queryable,
) => sql`(select coalesce(sum(size_gib), 0) from disks where pool_id = q.id)
  + (select coalesce(sum(size_gib), 0) from pool_images where pool_id = q.id)
  + (select coalesce(sum(size_gib), 0) from custom_images where pool_id = q.id)`;
