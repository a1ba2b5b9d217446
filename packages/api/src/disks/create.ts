import type { Queryable } from '@gantry/db/connect';
import { updateDiskSourceBackup } from '@gantry/db/queries/backups/backups';
import { replaceTags } from '@gantry/db/queries/listing';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { updateDiskSource } from '@gantry/db/queries/snapshots/snapshots';
import { insertDisk, isStorageExceeded, lockStorageOfDisk } from '@gantry/db/queries/vms/disks';
import { badRequest, CloudError, unknownLocation } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { startOperation } from '../operations/open.ts';
import { copyDeadlineMs, requireSourceBackup, requireSourceSnapshot } from './from-snapshot.ts';
import type { CreateDisk } from './schema.ts';
import { sizeGib } from './size.ts';

type Creation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof CreateDisk>;
  now: Date;
  deadlineMs: number;
};

/** Inserts a disk for the scheduler to create. The database checks quotas and names. */
export async function createDisk({
  sql,
  projectId,
  body,
  now,
  deadlineMs,
}: Creation): Promise<NewOperation> {
  const id = newId(now.getTime());
  const { snapshot_id: snapshotId, backup_id: backupId } = body;
  if (snapshotId && backupId)
    throw badRequest([{ field: 'backup_id', reason: 'cannot be given together with snapshot_id' }]);
  const snapshot =
    snapshotId && (await requireSourceSnapshot(sql, { projectId, snapshotId, disk: body }));
  const backup = backupId && (await requireSourceBackup(sql, { projectId, backupId, disk: body }));
  const hostId = snapshot ? snapshot.host_id : null;
  await insertNewDisk(sql, { id, projectId, body, now, isLocal: hostId !== null });
  if (snapshot) await updateDiskSource(sql, { diskId: id, snapshot });
  if (hostId !== null) await requireRoomOnHost(sql, { diskId: id, hostId });
  if (backup) await updateDiskSourceBackup(sql, { diskId: id, backup });
  const copied = snapshot || backup;
  return await startOperation(sql, {
    projectId,
    resourceType: 'disk',
    resourceId: id,
    name: 'CREATE',
    request: body,
    now,
    deadlineMs: copied ? copyDeadlineMs(deadlineMs, copied.size_gib) : deadlineMs,
  });
}

/** The host that stores the snapshot creates the disk. */
async function requireRoomOnHost(
  sql: Queryable,
  { diskId, hostId }: { diskId: string; hostId: string },
): Promise<void> {
  await lockStorageOfDisk(sql, diskId);
  if (!(await isStorageExceeded(sql, hostId))) return;
  throw new CloudError(
    'conflict',
    'the host that stores the snapshot has no room for the disk: choose a smaller size, or delete disks or snapshots',
  );
}

type NewDiskRow = Pick<Creation, 'projectId' | 'body' | 'now'> & { id: string; isLocal?: boolean };

export async function insertNewDisk(
  sql: Queryable,
  { id, projectId, body, now, isLocal = false }: NewDiskRow,
): Promise<void> {
  const known = await insertDisk(sql, {
    id,
    projectId,
    name: body.name,
    type: body.type,
    location: body.location,
    size: body.size,
    sizeGib: sizeGib(body.size),
    blockSize: body.block_size,
    serialNumber: diskSerialNumber(id),
    isLocal,
    at: now,
  });
  if (!known) throw unknownLocation(body.location);
  if (body.tags) await replaceTags(sql, { table: 'disks', id, tags: body.tags });
}

/**
 * Returns the serial number that the guest sees. It has 20 characters, because virtio-blk carries
 * 20 bytes. They come from the end of the id, which is its random part.
 */
export function diskSerialNumber(diskId: string): string {
  return diskId.replaceAll('-', '').slice(-20);
}
