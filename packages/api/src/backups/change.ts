import type { Queryable } from '@gantry/db/connect';
import { backupView } from '@gantry/db/queries/backups/backup-view';
import {
  type BackupRow,
  insertBackup,
  listDependentBackups,
  listDisksUsingBackup,
  lockBackup,
  readBackup,
  updateBackup,
  updateBackupDeleted,
} from '@gantry/db/queries/backups/backups';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { readDiskStorage } from '@gantry/db/queries/snapshots/snapshots';
import { lockDisks } from '@gantry/db/queries/vms/disks';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { requireUsableDisk } from '../disks/change.ts';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import type { ChangeBackup, CreateBackup } from './schema.ts';

type Place = { sql: Queryable; projectId: string; now: Date; deadlineMs: number };
type BackupTarget = Place & { backupId: string };

/**
 * Requests a backup of a disk, which may be attached to a running VM. Its content is what the guest has written by the
 * time the scheduler makes the snapshot, as after a power failure.
 */
export async function createBackup(
  creation: Place & { body: z.output<typeof CreateBackup> },
): Promise<NewOperation> {
  const { sql, projectId, body, now } = creation;
  const diskId = body.disk_id;
  const [disk] = await lockDisks(sql, { projectId, diskIds: [diskId] });
  if (!disk) throw badRequest([{ field: 'disk_id', reason: 'is not a disk of this project' }]);
  await requireNoOperation(sql, diskId);
  const { pool_id, is_shared } = await readDiskStorage(sql, diskId);
  if (is_shared)
    throw new CloudError('conflict', 'the disk is a shared volume, which has no backups');
  if (pool_id === null) {
    throw new CloudError(
      'conflict',
      'the disk is stored on its host: backups need network storage',
    );
  }
  requireUsableDisk(disk);
  const backupId = newId(now.getTime());
  const { name, tags = {}, full: wantsFull } = body;
  await insertBackup(sql, { id: backupId, projectId, name, tags, diskId, wantsFull, at: now });
  const deadlineMs = copyDeadlineMs(creation.deadlineMs, disk.size_gib);
  return await startOperation(sql, opening({ ...creation, deadlineMs, backupId }, 'CREATE', body));
}

/** Replaces the name or the tags, which succeeds at once. */
export async function changeBackup(
  target: BackupTarget & { body: z.output<typeof ChangeBackup> },
): Promise<NewOperation> {
  const { sql, projectId, backupId, body } = target;
  await requireIdleBackup(target);
  await updateBackup(sql, { projectId, backupId, ...body });
  const after = await readBackup(sql, { projectId, backupId });
  if (!after) throw new Error('BUG: a locked backup is missing');
  return await recordSucceededOperation(sql, opening(target, 'UPDATE', body), backupView(after));
}

/** A backup that others are based on stays, so that each backup that exists can be restored. */
export async function deleteBackup(target: BackupTarget): Promise<NewOperation> {
  const { sql, backupId } = target;
  await requireIdleBackup(target);
  const names = await listDependentBackups(sql, backupId);
  if (names.length > 0) {
    throw new CloudError(
      'conflict',
      `${names.join(', ')} has only the changes since this backup: delete it first`,
    );
  }
  const diskIds = await listDisksUsingBackup(sql, backupId);
  if (diskIds.length > 0) {
    throw new CloudError(
      'conflict',
      `the backup is being copied to ${diskIds.join(', ')}: wait until that is complete`,
    );
  }
  await updateBackupDeleted(sql, backupId);
  return await startOperation(sql, opening(target, 'DELETE', {}));
}

async function requireIdleBackup(target: BackupTarget): Promise<BackupRow> {
  const backup = await lockBackup(target.sql, { ...target, shared: false });
  if (!backup) throw notFound('backup');
  await requireNoOperation(target.sql, target.backupId);
  return backup;
}

function opening(target: BackupTarget, name: OperationName, request: object) {
  const { projectId, backupId: resourceId, now, deadlineMs } = target;
  const resourceType = 'backup' as const;
  return { projectId, resourceType, resourceId, name, request, now, deadlineMs };
}
