import type { Queryable } from '../../connect.ts';
import type { FreezeState } from '../../schema/snapshots.ts';
import type { VolumePlace, WorkSelection } from '../storage/volume-work.ts';

/**
 * What the holder of a location's lease has to do in a storage cluster for snapshots, and how it records the result.
 * Every list is short: it reads a partial index of what is unfinished.
 */

export type UnsettledSnapshot = VolumePlace & {
  id: string;
  disk_id: string;
  wanted: 'present' | 'deleted';
  freeze_state: FreezeState;
  /** The guest is to be frozen or thawed, and its host cannot do it: its VM has none, or the agent there is too old. */
  freeze_lost: boolean;
  problem: string;
};

/** Lists the oldest first. A snapshot waits until its disk has a volume, and until a guest is frozen or thawed. */
export async function listUnsettledSnapshots(
  sql: Queryable,
  { location, limit, notIds, notClusters }: WorkSelection,
): Promise<UnsettledSnapshot[]> {
  return await sql<UnsettledSnapshot[]>`
    select s.id, s.disk_id, s.desired_state as wanted, p.cluster_id, p.id as pool_id, p.name as pool,
      s.freeze_state, ${isFreezeLost(sql)} as freeze_lost, s.problem
    from snapshots s join storage_pools p on p.id = s.pool_id
    where s.location = ${location} and (s.desired_state = 'deleted' or s.observed_state = 'none')
      and not exists (select from disks d where d.id = s.disk_id and d.volume_id = '')
      and (s.desired_state = 'deleted' or s.freeze_state not in ('wanted', 'taken') or ${isFreezeLost(sql)})
      and s.id <> all(${[...notIds]}::uuid[]) and p.cluster_id <> all(${[...notClusters]}::uuid[])
    order by s.id limit ${limit}`;
}

export const isFreezeLost = (
  sql: Queryable,
) => sql`(s.freeze_state in ('wanted', 'taken') and not exists (
  select from placements k join hosts h on h.id = k.host_id
  where k.vm_id = s.freeze_vm_id and h.inventory #> '{software,capabilities}' ? 'guest_freezes'))`;

export type SettledSnapshot = {
  id: string;
  project_id: string;
  organization_id: string;
  region: string;
  size_gib: number;
};

/** Records that the cluster has the snapshot. Returns undefined if it is not wanted any more. */
export async function updateSnapshotReady(
  sql: Queryable,
  snapshotId: string,
): Promise<SettledSnapshot | undefined> {
  const [row] = await sql<SettledSnapshot[]>`
    update snapshots s set observed_state = 'ready', problem = '', updated_at = now()
    from projects j, locations l where s.id = ${snapshotId} and s.desired_state = 'present'
      and s.observed_state = 'none' and j.id = s.project_id and l.name = s.location
    returning s.id, s.project_id, j.organization_id, l.region, s.size_gib`;
  return row;
}

/** The snapshot was never made. Its tenant deletes it, which removes what the cluster may have of it. */
export async function updateSnapshotFailed(
  sql: Queryable,
  { snapshotId, problem }: { snapshotId: string; problem: string },
): Promise<void> {
  await sql`update snapshots set observed_state = 'failed', problem = ${problem}, updated_at = now()
    where id = ${snapshotId} and desired_state = 'present' and observed_state = 'none'`;
}

/** Why the last attempt failed; there will be another one. */
export async function updateSnapshotProblem(
  sql: Queryable,
  { snapshotId, problem }: { snapshotId: string; problem: string },
): Promise<void> {
  await sql`update snapshots set problem = ${problem} where id = ${snapshotId} and problem <> ${problem}`;
}

/** Locks a snapshot that is to be removed. Returns false if it is gone. */
export async function lockDeletedSnapshot(sql: Queryable, snapshotId: string): Promise<boolean> {
  const rows =
    await sql`select from snapshots where id = ${snapshotId} and desired_state = 'deleted' for update`;
  return rows.length > 0;
}

export async function removeSnapshotRow(sql: Queryable, snapshotId: string): Promise<void> {
  await sql`delete from snapshots where id = ${snapshotId}`;
}

export type RestoringDisk = VolumePlace & {
  id: string;
  project_id: string;
  snapshot_id: string;
  /** Whether the tenant still waits for it. */
  awaited: boolean;
};

/** Lists the disks of a location whose content has to be set back to a snapshot. */
export async function listDisksToRestore(
  sql: Queryable,
  { location, limit, notIds, notClusters }: WorkSelection,
): Promise<RestoringDisk[]> {
  return await sql<RestoringDisk[]>`
    select d.id, d.project_id, d.restore_snapshot_id as snapshot_id, p.cluster_id, p.id as pool_id, p.name as pool,
      exists (select from operations o where o.resource_id = d.id and o.state = 'IN_PROGRESS') as awaited
    from disks d join storage_pools p on p.id = d.pool_id
    where d.restore_snapshot_id is not null and d.location = ${location}
      and d.id <> all(${[...notIds]}::uuid[]) and p.cluster_id <> all(${[...notClusters]}::uuid[])
    order by d.id limit ${limit}`;
}

/** Returns false if the disk was not being set back to this snapshot. */
export async function updateDiskRestored(
  sql: Queryable,
  { diskId, snapshotId }: { diskId: string; snapshotId: string },
): Promise<boolean> {
  const { count } =
    await sql`update disks set restore_snapshot_id = null, volume_problem = '', updated_at = now()
    where id = ${diskId} and restore_snapshot_id = ${snapshotId}`;
  return count > 0;
}
