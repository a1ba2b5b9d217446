import type { BackupState, DiskType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { type Listing, listed, updateNameAndTags } from '../listing.ts';

export type BackupRow = {
  id: string;
  name: string;
  disk_id: string;
  pool_id: string;
  location: string;
  disk_type: DiskType;
  size_gib: number;
  block_size: number;
  parent_id: string | null;
  scheduled: boolean;
  file_bytes: number;
  sha256: string;
  state: BackupState;
  problem: string;
  tags: Record<string, string>;
  created_at: Date;
  updated_at: Date;
};

const selectBackup = (sql: Queryable) => sql`
  select id, name, disk_id, pool_id, location, disk_type, size_gib, block_size, parent_id, scheduled,
    file_bytes::float8 as file_bytes, sha256, state, problem, tags, created_at, updated_at from backups`;

type BackupKey = { projectId: string; backupId: string };

export async function listBackups(sql: Queryable, listing: Listing): Promise<BackupRow[]> {
  return await sql<BackupRow[]>`${selectBackup(sql)} where ${listed(sql, listing)}`;
}

export async function readBackup(
  sql: Queryable,
  { projectId, backupId }: BackupKey,
): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`
    ${selectBackup(sql)} where project_id = ${projectId} and id = ${backupId}`;
  return row;
}

export async function readBackupById(
  sql: Queryable,
  backupId: string,
): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`${selectBackup(sql)} where id = ${backupId}`;
  return row;
}

/**
 * Locks a backup until the transaction ends and returns it. Requests that use its content share the lock; a request that
 * changes or deletes the backup has it alone.
 */
export async function lockBackup(
  sql: Queryable,
  { projectId, backupId, shared }: BackupKey & { shared: boolean },
): Promise<BackupRow | undefined> {
  const strength = shared ? sql`for share` : sql`for update`;
  await sql`select from backups where project_id = ${projectId} and id = ${backupId} ${strength}`;
  return await readBackup(sql, { projectId, backupId });
}

export type NewBackup = {
  id: string;
  projectId: string;
  name: string;
  tags: Record<string, string>;
  diskId: string;
  wantsFull: boolean;
  at: Date;
};

/** The caller has locked the disk, which has a volume. */
export async function insertBackup(sql: Queryable, backup: NewBackup): Promise<void> {
  const { id, projectId, name, tags, diskId, wantsFull, at } = backup;
  await sql`insert into backups (id, project_id, name, tags, disk_id, pool_id, location, disk_type, size_gib, block_size,
      wants_full, created_at, updated_at)
    select ${id}, ${projectId}, ${name}, ${JSON.stringify(tags)}::text::jsonb, d.id, d.pool_id, d.location, d.type,
      d.observed_size_gib, case d.block_size when 0 then 512 else d.block_size end, ${wantsFull}, ${at}, ${at}
    from disks d where d.id = ${diskId}`;
}

export async function updateBackup(
  sql: Queryable,
  change: BackupKey & { name?: string | undefined; tags?: Record<string, string> | undefined },
): Promise<void> {
  const { projectId, backupId, name, tags } = change;
  await updateNameAndTags(sql, { table: 'backups', projectId, id: backupId, name, tags });
  await sql`update backups set updated_at = now() where id = ${backupId}`;
}

export async function updateBackupDeleted(sql: Queryable, backupId: string): Promise<void> {
  await sql`update backups set desired_state = 'deleted', updated_at = now() where id = ${backupId}`;
}

/** Returns the names of the backups that contain only the changes since this one. */
export async function listDependentBackups(sql: Queryable, backupId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from backups where parent_id = ${backupId} order by id`;
  return rows.map(({ name }) => name);
}

/** Returns the disks whose content is being read from the backup. */
export async function listDisksUsingBackup(sql: Queryable, backupId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from disks d join operations o on o.resource_id = d.id and o.state = 'IN_PROGRESS'
    where d.source_backup_id = ${backupId} and d.observed_size_gib is null order by d.id`;
  return rows.map(({ id }) => id);
}

/** The volume of the disk is made of the backup, in the pool of the disk that was backed up. */
export async function updateDiskSourceBackup(
  sql: Queryable,
  { diskId, backup }: { diskId: string; backup: Pick<BackupRow, 'id' | 'pool_id'> },
): Promise<void> {
  await sql`update disks set source_backup_id = ${backup.id}, pool_id = ${backup.pool_id}
    where id = ${diskId}`;
}
