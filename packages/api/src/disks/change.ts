import type { Queryable } from '@gantry/db/connect';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { hasPoolRoom, readDiskStorage } from '@gantry/db/queries/snapshots/snapshots';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import {
  type DiskRow,
  isStorageExceeded,
  lockDisks,
  lockStorageOfDisk,
  lockVmsOfDisk,
  readDisk,
  updateDiskDeleted,
  updateDiskSize,
  updateDiskTags,
} from '@gantry/db/queries/vms/disks';
import { badRequest, CloudError, notFound, outOfStorage } from '@gantry/model/errors';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import {
  operationInProgress,
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import type { ChangeDisk } from './schema.ts';
import { sizeGib } from './size.ts';

type Target = {
  sql: Queryable;
  projectId: string;
  diskId: string;
  now: Date;
  deadlineMs: number;
};

/** Grows a disk, or replaces its tags, which needs no host and succeeds at once. */
export async function changeDisk(
  target: Target & { body: z.output<typeof ChangeDisk> },
): Promise<NewOperation> {
  const { sql, projectId, diskId, body } = target;
  const disk = await requireIdleDisk(target);
  if (body.tags) await updateDiskTags(sql, { diskId, tags: body.tags });
  if (body.size !== undefined) {
    await growDisk(sql, disk, body.size);
    return await start(target, 'UPDATE', body);
  }
  const after = await readDisk(sql, { projectId, diskId });
  if (!after) throw new Error('BUG: a locked disk is missing');
  return await recordSucceededOperation(sql, opening(target, 'UPDATE', body), diskView(after));
}

/** A disk cannot shrink, because the data beyond its new end would be lost. */
async function growDisk(sql: Queryable, disk: DiskRow, size: string): Promise<void> {
  requireDataDisk(disk);
  requireUsableDisk(disk);
  const grown = sizeGib(size);
  if (grown <= disk.size_gib) {
    throw badRequest([{ field: 'size', reason: `must be larger than the disk's ${disk.size}` }]);
  }
  const { snapshotting, pool_id: poolId } = await readDiskStorage(sql, disk.id);
  if (snapshotting) throw operationInProgress();
  const gib = grown - disk.size_gib;
  if (poolId !== null && !(await hasPoolRoom(sql, { poolId, gib, grows: true }))) {
    throw outOfStorage({ location: disk.location, diskType: disk.type, gib });
  }
  const hostId = await lockStorageOfDisk(sql, disk.id);
  await updateDiskSize(sql, { diskId: disk.id, size, sizeGib: grown });
  if (hostId !== null && (await isStorageExceeded(sql, hostId))) {
    throw new CloudError(
      'conflict',
      `the host that stores the disk has no room for a size of ${size}: choose a smaller size, or create another disk`,
    );
  }
}

/** The metering of the disk ends with the request, whenever its host removes the disk. */
export async function deleteDisk(target: Target): Promise<NewOperation> {
  const disk = await requireIdleDisk(target);
  requireDataDisk(disk);
  requireNotCopied(disk);
  if (disk.attachments.length > 0) {
    const vmIds = disk.attachments.map(({ vm_id }) => vm_id).join(', ');
    throw new CloudError('disk_attached', `the disk is attached to ${vmIds}: detach it first`);
  }
  await updateDiskDeleted(target.sql, target.diskId);
  await closeInterval(target.sql, { resourceId: target.diskId });
  return await start(target, 'DELETE', {});
}

/**
 * Locks the disk and its VMs and returns the disk, or throws if an operation on it is unfinished.
 */
export async function requireIdleDisk({
  sql,
  projectId,
  diskId,
}: Pick<Target, 'sql' | 'projectId' | 'diskId'>): Promise<DiskRow> {
  const vmIds = await lockVmsOfDisk(sql, diskId);
  const [disk] = await lockDisks(sql, { projectId, diskIds: [diskId] });
  if (!disk) throw notFound('disk');
  await requireNoOperation(sql, diskId);
  // The disk was attached to another VM after the VMs were locked. That operation is unfinished,
  // and locking its VM now would break the lock order: VMs before disks.
  if (disk.attachments.some(({ vm_id }) => !vmIds.includes(vm_id))) throw operationInProgress();
  return disk;
}

/** An OS disk belongs to its VM: it has a fixed size and is deleted with the VM. */
function requireDataDisk(disk: DiskRow): void {
  if (disk.kind === 'data') return;
  throw new CloudError(
    'disk_attached',
    'the disk is the OS disk of a VM: it cannot be resized, and it is deleted with the VM',
  );
}

/** A disk without an unfinished operation is only in these states if its last operation failed. */
export function requireUsableDisk(disk: DiskRow): void {
  if (disk.restoring) {
    throw new CloudError(
      'conflict',
      `the disk ${disk.id} is being set back to a snapshot: wait until that is complete`,
    );
  }
  requireNotCopied(disk);
  if (disk.state !== 'creating' && disk.state !== 'deleting') return;
  throw new CloudError(
    'conflict',
    `the disk ${disk.id} is ${disk.state}: delete it and create a new one`,
  );
}

/** While its host copies a disk for a snapshot, no other program of the host may open or remove it. */
export function requireNotCopied({ id, copying }: DiskRow): void {
  if (!copying) return;
  throw new CloudError(
    'conflict',
    `a snapshot of the disk ${id} is being made on its host: wait until that is complete`,
  );
}

async function start(target: Target, name: OperationName, request: object): Promise<NewOperation> {
  return await startOperation(target.sql, opening(target, name, request));
}

function opening(target: Target, name: OperationName, request: object) {
  const { projectId, diskId: resourceId, now, deadlineMs } = target;
  return { projectId, resourceType: 'disk' as const, resourceId, name, request, now, deadlineMs };
}
