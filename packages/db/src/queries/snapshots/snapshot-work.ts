import type { Queryable } from '../../connect.ts';

/**
 * What the holder of a location's lease has to do in a storage cluster for snapshots, and how it records the result.
 * Every list is short: it reads a partial index of what is unfinished.
 */

/** Where a volume is. */
export type VolumePlace = { cluster_id: string; pool: string };

export type UnsettledSnapshot = VolumePlace & {
  id: string;
  disk_id: string;
  wanted: 'present' | 'deleted';
};

/** Lists the oldest first. A snapshot waits until its disk has a volume. */
export async function listUnsettledSnapshots(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<UnsettledSnapshot[]> {
  return await sql<UnsettledSnapshot[]>`
    select s.id, s.disk_id, s.desired_state as wanted, p.cluster_id, p.name as pool
    from snapshots s join storage_pools p on p.id = s.pool_id
    where s.location = ${location} and (s.desired_state = 'deleted' or s.observed_state = 'none')
      and not exists (select from disks d where d.id = s.disk_id and d.volume_id = '')
    order by s.id limit ${limit}`;
}

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
  const rows = await sql`select from snapshots where id = ${snapshotId} and desired_state = 'deleted' for update`;
  return rows.length > 0;
}

export async function removeSnapshotRow(sql: Queryable, snapshotId: string): Promise<void> {
  await sql`delete from snapshots where id = ${snapshotId}`;
}

export type RestoringDisk = VolumePlace & {
  id: string;
  project_id: string;
  snapshot_id: string;
  size_gib: number;
  /** Whether the tenant still waits for it. */
  awaited: boolean;
};

/** Lists the disks of a location whose content has to be set back to a snapshot. */
export async function listRestoringDisksOf(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<RestoringDisk[]> {
  return await sql<RestoringDisk[]>`
    select d.id, d.project_id, d.restore_snapshot_id as snapshot_id, d.size_gib, p.cluster_id, p.name as pool,
      exists (select from operations o where o.resource_id = d.id and o.state = 'IN_PROGRESS') as awaited
    from disks d join storage_pools p on p.id = d.pool_id
    where d.restore_snapshot_id is not null and d.location = ${location} order by d.id limit ${limit}`;
}

/** Returns false if the disk was not being set back to this snapshot. */
export async function updateDiskRestored(
  sql: Queryable,
  { diskId, snapshotId }: { diskId: string; snapshotId: string },
): Promise<boolean> {
  const { count } = await sql`update disks set restore_snapshot_id = null, volume_problem = '', updated_at = now()
    where id = ${diskId} and restore_snapshot_id = ${snapshotId}`;
  return count > 0;
}

export type CopiedDisk = VolumePlace & {
  id: string;
  size_gib: number;
  snapshot_id: string;
  /** The disk of the snapshot, whose volume has it. */
  from_disk_id: string;
};

/**
 * Lists the disks of a location whose volume has to be copied from a snapshot and whose creation has not failed. A snapshot is not deleted before its
 * copies are complete, and it is always in the pool of the disk.
 */
export async function listDisksToCopy(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<CopiedDisk[]> {
  return await sql<CopiedDisk[]>`
    select d.id, d.size_gib, s.id as snapshot_id, s.disk_id as from_disk_id, p.cluster_id, p.name as pool
    from disks d join snapshots s on s.id = d.source_snapshot_id join storage_pools p on p.id = d.pool_id
    where d.pool_id is not null and d.observed_size_gib is null and d.location = ${location}
      and d.desired_state = 'present'
      and exists (select from operations o where o.resource_id = d.id and o.state = 'IN_PROGRESS') order by d.id limit ${limit}`;
}

export type LockedCopy = {
  project_id: string;
  organization_id: string;
  region: string;
  type: string;
  observed_size_gib: number | null;
};

/** Returns undefined if the disk is gone. */
export async function lockDiskToCopy(
  sql: Queryable,
  diskId: string,
): Promise<LockedCopy | undefined> {
  await sql`select from disks where id = ${diskId} for update`;
  const [row] = await sql<LockedCopy[]>`
    select d.project_id, j.organization_id, l.region, d.type, d.observed_size_gib
    from disks d join projects j on j.id = d.project_id join locations l on l.name = d.location
    where d.id = ${diskId}`;
  return row;
}

export async function updateDiskCopied(
  sql: Queryable,
  { diskId, volumeId, sizeGib }: { diskId: string; volumeId: string; sizeGib: number },
): Promise<void> {
  await sql`update disks set observed_size_gib = ${sizeGib}, volume_id = ${volumeId}, volume_problem = '',
    updated_at = now() where id = ${diskId}`;
}

/** The disk of a finished copy no longer exists, so its volume is to be removed. */
export async function discardCopy(
  sql: Queryable,
  { id, cluster_id, pool }: CopiedDisk,
): Promise<void> {
  await sql`insert into discarded_volumes (disk_id, pool_id)
    select ${id}, p.id from storage_pools p where p.cluster_id = ${cluster_id} and p.name = ${pool}
    on conflict (disk_id) do nothing`;
}

/** Why the last attempt failed; there will be another one unless its operation has failed. */
export async function updateVolumeProblem(
  sql: Queryable,
  { diskId, problem }: { diskId: string; problem: string },
): Promise<void> {
  await sql`update disks set volume_problem = ${problem} where id = ${diskId} and volume_problem <> ${problem}`;
}
