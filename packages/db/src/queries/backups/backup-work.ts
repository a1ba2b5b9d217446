import type { Queryable } from '../../connect.ts';
import { hasOldSnapshot } from '../storage/backup-conditions.ts';
import type { VolumePlace, WorkSelection } from '../storage/volume-work.ts';

/**
 * What the holder of a location's lease has to do for backups, and how it records the result. Every list is short: it
 * reads a partial index of what is unfinished.
 */

export type UnsettledBackup = VolumePlace & {
  id: string;
  project_id: string;
  disk_id: string;
  name: string;
  disk_type: string;
  size_gib: number;
  block_size: number;
  wanted: 'present' | 'deleted';
  wants_full: boolean;
  created_at: Date;
};

/**
 * Lists the oldest of each organization, then the second of each, and so on; those that are busy are the first. The backups
 * of a disk are made one after the other, so that each can follow the one before.
 */
export async function listUnsettledBackups(
  sql: Queryable,
  { location, limit, notIds, notClusters }: WorkSelection,
): Promise<UnsettledBackup[]> {
  const busy = sql`any(${[...notIds]}::uuid[])`;
  return await sql<UnsettledBackup[]>`
    select b.id, b.project_id, b.disk_id, b.name, b.disk_type, b.size_gib, b.block_size, b.desired_state as wanted,
      b.wants_full, b.created_at, p.cluster_id, p.id as pool_id, p.name as pool
    from (select b.id, row_number() over (partition by j.organization_id, p.cluster_id order by b.id = ${busy} desc, b.id) as turn
        from backups b join storage_pools p on p.id = b.pool_id join projects j on j.id = b.project_id
        where b.location = ${location} and (b.desired_state = 'deleted' or b.observed_state = 'none')
          and (b.desired_state = 'deleted' or not exists (select from backups o where o.disk_id = b.disk_id and o.id < b.id
            and o.desired_state = 'present' and o.observed_state = 'none'))
          and p.cluster_id <> all(${[...notClusters]}::uuid[])) w
      join backups b on b.id = w.id join storage_pools p on p.id = b.pool_id
    where not b.id = ${busy} order by w.turn, b.id limit ${limit}`;
}

/** After this many backups with changes only, the next one has the whole content. */
const MOST_CHANGES = 6;

/**
 * Returns the backup since which the next one can contain the changes: the newest complete one, if its chain is not too
 * long. Undefined: the next one needs the whole content.
 */
export async function findBase(sql: Queryable, diskId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string; depth: number }[]>`
    with recursive newest as (
      select id, parent_id from backups where disk_id = ${diskId} and state = 'ready' and has_snapshot
      order by id desc limit 1),
    chain as (
      select id, parent_id, 0 as depth from newest
      union all select b.id, b.parent_id, c.depth + 1 from chain c join backups b on b.id = c.parent_id)
    select (select id from newest) as id, max(depth) as depth from chain having count(*) > 0`;
  return row && row.depth < MOST_CHANGES ? row.id : undefined;
}

/**
 * Locks the backup that another one is based on, so that it is not deleted before the other one is recorded. Returns false
 * if it cannot be used any more.
 */
export async function lockBase(sql: Queryable, backupId: string): Promise<boolean> {
  await sql`select from backups where id = ${backupId} for share`;
  const rows = await sql`select from backups where id = ${backupId} and state = 'ready'`;
  return rows.length > 0;
}

export type FinishedBackup = {
  backupId: string;
  parentId: string | null;
  bytes: number;
  sha256: string;
};

/** Records that the file is complete. Returns false if the backup is not wanted any more. */
export async function updateBackupReady(
  sql: Queryable,
  { backupId, parentId, bytes, sha256 }: FinishedBackup,
): Promise<boolean> {
  const { count } = await sql`
    update backups set observed_state = 'ready', problem = '', parent_id = ${parentId}, file_bytes = ${bytes},
      sha256 = ${sha256}, updated_at = now()
    where id = ${backupId} and desired_state = 'present' and observed_state = 'none'`;
  return count > 0;
}

/** The backup was never completed. Its deletion removes what there may be of it. */
export async function updateBackupFailed(
  sql: Queryable,
  { backupId, problem }: { backupId: string; problem: string },
): Promise<void> {
  await sql`update backups set observed_state = 'failed', problem = ${problem}, updated_at = now()
    where id = ${backupId} and desired_state = 'present' and observed_state = 'none'`;
}

/** Why the last attempt failed; there will be another one. */
export async function updateBackupProblem(
  sql: Queryable,
  { backupId, problem }: { backupId: string; problem: string },
): Promise<void> {
  await sql`update backups set problem = ${problem} where id = ${backupId} and problem <> ${problem}`;
}

/** Locks a backup that is to be removed. Returns false if it is gone. */
export async function lockDeletedBackup(sql: Queryable, backupId: string): Promise<boolean> {
  const rows =
    await sql`select from backups where id = ${backupId} and desired_state = 'deleted' for update`;
  return rows.length > 0;
}

export async function removeBackupRow(sql: Queryable, backupId: string): Promise<void> {
  await sql`delete from backups where id = ${backupId}`;
}

export type OldSnapshot = VolumePlace & { backup_id: string; disk_id: string };

export async function listOldSnapshots(
  sql: Queryable,
  { location, limit, notIds, notClusters }: WorkSelection,
): Promise<OldSnapshot[]> {
  return await sql<OldSnapshot[]>`
    select b.id as backup_id, b.disk_id, p.cluster_id, p.id as pool_id, p.name as pool
    from backups b join storage_pools p on p.id = b.pool_id
    where b.location = ${location} and ${hasOldSnapshot(sql)}
      and b.id <> all(${[...notIds]}::uuid[]) and p.cluster_id <> all(${[...notClusters]}::uuid[])
    order by b.id limit ${limit}`;
}

export async function updateSnapshotDropped(sql: Queryable, backupId: string): Promise<void> {
  await sql`update backups set has_snapshot = false where id = ${backupId}`;
}

/** The disk could not be made of its backup, and its tenant has been told why. It is removed like a deleted one. */
export async function updateUnmadeDiskDeleted(sql: Queryable, diskId: string): Promise<void> {
  await sql`update disks set desired_state = 'deleted', updated_at = now()
    where id = ${diskId} and observed_size_gib is null and source_backup_id is not null`;
}
