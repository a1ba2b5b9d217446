import type { Queryable } from '@gantry/db/connect';
import {
  type BackupScheduleRow,
  deleteBackupSchedule,
  readBackupSchedule,
  upsertBackupSchedule,
} from '@gantry/db/queries/backups/backup-schedules';
import { readDiskStorage } from '@gantry/db/queries/snapshots/snapshots';
import { lockDisks } from '@gantry/db/queries/vms/disks';
import { CloudError, notFound } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import type { SetBackupSchedule } from './schema.ts';

type Target = { sql: Queryable; projectId: string; diskId: string };

export async function requireBackupSchedule({ sql, ...key }: Target): Promise<BackupScheduleRow> {
  const schedule = await readBackupSchedule(sql, key);
  if (!schedule) throw notFound('backup schedule');
  return schedule;
}

/** A new schedule makes its first backup at once. */
export async function setBackupSchedule(
  target: Target & { body: z.output<typeof SetBackupSchedule>; now: Date },
): Promise<BackupScheduleRow> {
  const { sql, projectId, diskId, body, now } = target;
  const [disk] = await lockDisks(sql, { projectId, diskIds: [diskId] });
  if (!disk) throw notFound('disk');
  const { pool_id, is_shared } = await readDiskStorage(sql, diskId);
  if (is_shared)
    throw new CloudError('conflict', 'the disk is a shared volume, which has no backups');
  if (pool_id === null) {
    throw new CloudError(
      'conflict',
      'the disk is stored on its host: backups need network storage',
    );
  }
  const { every_hours: everyHours, keep } = body;
  await upsertBackupSchedule(sql, { diskId, everyHours, keep, at: now });
  return await requireBackupSchedule(target);
}

/** Its backups stay, and are no longer removed. */
export async function removeBackupSchedule(target: Target): Promise<BackupScheduleRow> {
  const { sql, projectId, diskId } = target;
  await lockDisks(sql, { projectId, diskIds: [diskId] });
  const schedule = await requireBackupSchedule(target);
  await deleteBackupSchedule(sql, diskId);
  return schedule;
}

export function backupScheduleView(row: BackupScheduleRow) {
  return {
    disk_id: row.disk_id,
    every_hours: row.every_hours,
    keep: row.keep,
    next_at: row.next_at.toISOString(),
    last_backup_at: row.last_backup_at?.toISOString() ?? '',
  };
}
