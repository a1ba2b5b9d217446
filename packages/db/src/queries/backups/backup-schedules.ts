import type { Queryable } from '../../connect.ts';

export type BackupScheduleRow = {
  disk_id: string;
  every_hours: number;
  keep: number;
  next_at: Date;
  /** When the newest complete backup of the disk was requested. */
  last_backup_at: Date | null;
};

type DiskKey = { projectId: string; diskId: string };

const lastBackupOf = (sql: Queryable) =>
  sql`(select max(b.created_at) from backups b where b.disk_id = s.disk_id and b.state = 'ready')`;

export async function readBackupSchedule(
  sql: Queryable,
  { projectId, diskId }: DiskKey,
): Promise<BackupScheduleRow | undefined> {
  const [row] = await sql<BackupScheduleRow[]>`
    select s.disk_id, s.every_hours, s.keep, s.next_at, ${lastBackupOf(sql)} as last_backup_at
    from backup_schedules s join disks d on d.id = s.disk_id
    where s.disk_id = ${diskId} and d.project_id = ${projectId}`;
  return row;
}

/** The caller has locked the disk. The first backup is due at once; a changed schedule is not due earlier than before. */
export async function upsertBackupSchedule(
  sql: Queryable,
  { diskId, everyHours, keep, at }: { diskId: string; everyHours: number; keep: number; at: Date },
): Promise<void> {
  await sql`insert into backup_schedules (disk_id, every_hours, keep, next_at, created_at)
    values (${diskId}, ${everyHours}, ${keep}, ${at}, ${at})
    on conflict (disk_id) do update set every_hours = excluded.every_hours, keep = excluded.keep,
      next_at = least(backup_schedules.next_at, excluded.next_at + make_interval(hours => excluded.every_hours))`;
}

export async function deleteBackupSchedule(sql: Queryable, diskId: string): Promise<void> {
  await sql`delete from backup_schedules where disk_id = ${diskId}`;
}

/** A disk that is not ready, or of which a backup is being made, waits for the next look. */
const isDue = (
  sql: Queryable,
) => sql`s.next_at <= now() and d.desired_state = 'present' and d.state = 'ready'
  and d.pool_id is not null and d.volume_id <> '' and d.restore_snapshot_id is null
  and not exists (select from backups b where b.disk_id = s.disk_id and b.state = 'creating')
  and not exists (select from operations o where o.resource_id = s.disk_id and o.state = 'IN_PROGRESS')`;

export async function listDueSchedules(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ disk_id: string }[]>`
    select s.disk_id from backup_schedules s join disks d on d.id = s.disk_id
    where d.location = ${location} and ${isDue(sql)} order by s.next_at, s.disk_id limit ${limit}`;
  return rows.map(({ disk_id }) => disk_id);
}

/**
 * Inserts the backup that is due, and moves the schedule to its next time. Times that were missed are not made up for. Locks
 * the disk. Returns false if no backup is due any more.
 */
export async function insertScheduledBackup(
  sql: Queryable,
  { diskId, id, name }: { diskId: string; id: string; name: string },
): Promise<boolean> {
  await sql`select from disks where id = ${diskId} for update`;
  const { count } = await sql`
    insert into backups (id, project_id, name, disk_id, pool_id, location, disk_type, size_gib, block_size, scheduled)
    select ${id}, d.project_id, ${name}, d.id, d.pool_id, d.location, d.type, d.observed_size_gib,
      case d.block_size when 0 then 512 else d.block_size end, true
    from backup_schedules s join disks d on d.id = s.disk_id where s.disk_id = ${diskId} and ${isDue(sql)}`;
  if (count === 0) return false;
  await sql`update backup_schedules set next_at = next_at + make_interval(hours => every_hours
      * (1 + floor(extract(epoch from now() - next_at) / 3600 / every_hours))::int)
    where disk_id = ${diskId}`;
  return true;
}

/** The backup cannot be made now, for example because of a quota. */
export async function postponeSchedule(sql: Queryable, diskId: string): Promise<void> {
  await sql`update backup_schedules set next_at = now() + interval '10 minutes' where disk_id = ${diskId}`;
}

/**
 * The backup `b` was made by a schedule and is not among the newest that the schedule keeps, or it failed and a newer one
 * did not. No other backup is based on it, and no disk is being made of it: so every backup that stays can be restored.
 */
const isPrunable = (sql: Queryable) => sql`b.scheduled and b.desired_state = 'present'
  and ((b.observed_state = 'ready' and (select count(*) from backups o where o.disk_id = b.disk_id and o.scheduled
      and o.state = 'ready' and o.id > b.id) >= s.keep)
    or (b.observed_state = 'failed' and exists (select from backups o
      where o.disk_id = b.disk_id and o.state = 'ready' and o.id > b.id)))
  and not exists (select from backups o where o.parent_id = b.id)
  and not exists (select from backups o where o.disk_id = b.disk_id and o.state = 'creating')
  and not exists (select from disks d join operations p on p.resource_id = d.id and p.state = 'IN_PROGRESS'
    where d.source_backup_id = b.id and d.observed_size_gib is null)`;

export async function listPrunableBackups(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select b.id from backup_schedules s join backups b on b.disk_id = s.disk_id
    where b.location = ${location} and ${isPrunable(sql)} order by b.id desc limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Locks the backup and asks for its removal, unless it is needed by then. */
export async function pruneBackup(sql: Queryable, backupId: string): Promise<void> {
  await sql`select from backups where id = ${backupId} for update`;
  await sql`update backups b set desired_state = 'deleted', updated_at = now()
    from backup_schedules s where b.id = ${backupId} and s.disk_id = b.disk_id and ${isPrunable(sql)}`;
}

/** A backup that a schedule asked for has no operation, so no deadline of one ends it. A cluster copies a GiB in 20 s or less. */
const isLate = (
  sql: Queryable,
) => sql`b.scheduled and b.desired_state = 'present' and b.observed_state = 'none'
  and b.created_at < now() - interval '20 seconds' * b.size_gib - make_interval(hours => greatest(24,
    coalesce((select s.every_hours from backup_schedules s where s.disk_id = b.disk_id), 0)))`;

export async function listLateBackups(
  sql: Queryable,
  { location, limit }: { location: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select b.id from backups b where b.location = ${location} and ${isLate(sql)} order by b.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

export type BackupFigures = {
  location: string;
  scheduled_disks: number;
  /** Disks whose newest complete backup is older than twice their interval and an hour. */
  overdue_disks: number;
  /** The age of the newest complete backup of the disk that has the oldest one; since the schedule exists if it has none. */
  oldest_seconds: number;
};

export async function readBackupFigures(sql: Queryable): Promise<BackupFigures[]> {
  return await sql<BackupFigures[]>`
    select location, count(*)::int as scheduled_disks, max(age)::float8 as oldest_seconds,
      count(*) filter (where age > (2 * every_hours + 1) * 3600)::int as overdue_disks
    from (select d.location, s.every_hours,
        extract(epoch from now() - coalesce(${lastBackupOf(sql)}, s.created_at)) as age
      from backup_schedules s join disks d on d.id = s.disk_id) a
    group by location order by location`;
}
