import type { Queryable } from '@gantry/db/connect';
import {
  type DiskRow,
  lockDisks,
  lockVmsOfDisk,
  updateDiskDeleted,
  updateDiskSize,
} from '@gantry/db/queries/disks';
import { insertOperation, type NewOperation } from '@gantry/db/queries/operations';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { openOperation, operationInProgress, requireNoOperation } from '../operations/open.ts';
import { sizeGib } from './create.ts';
import type { ChangeDisk } from './schema.ts';

type Target = {
  sql: Queryable;
  projectId: string;
  diskId: string;
  now: Date;
  deadlineAt: Date;
};

/** A disk only grows: what lies beyond a smaller size would be lost. */
export async function changeDisk(
  target: Target & { body: z.output<typeof ChangeDisk> },
): Promise<NewOperation> {
  const { sql, diskId, body } = target;
  const disk = await requireIdleDisk(target);
  requireDataDisk(disk);
  requireUsableDisk(disk);
  const grown = sizeGib(body.size);
  if (grown <= disk.size_gib) {
    throw badRequest([{ field: 'size', reason: `must be larger than the disk's ${disk.size}` }]);
  }
  await updateDiskSize(sql, { diskId, size: body.size, sizeGib: grown });
  return await opened(target, 'UPDATE', body);
}

export async function deleteDisk(target: Target): Promise<NewOperation> {
  const disk = await requireIdleDisk(target);
  requireDataDisk(disk);
  if (disk.attachments.length > 0) {
    const vmIds = disk.attachments.map(({ vm_id }) => vm_id).join(', ');
    throw new CloudError('disk_attached', `the disk is attached to ${vmIds}: detach it first`);
  }
  await updateDiskDeleted(target.sql, target.diskId);
  return await opened(target, 'DELETE', {});
}

/** The disk, locked, with nothing else being done to it. */
async function requireIdleDisk({ sql, projectId, diskId }: Target): Promise<DiskRow> {
  const vmIds = await lockVmsOfDisk(sql, diskId);
  const [disk] = await lockDisks(sql, { projectId, diskIds: [diskId] });
  if (!disk) throw notFound('disk');
  await requireNoOperation(sql, diskId);
  // Attached meanwhile: that operation is under way, and its VM cannot be locked after the disk.
  if (disk.attachments.some(({ vm_id }) => !vmIds.includes(vm_id))) throw operationInProgress();
  return disk;
}

/** An OS disk is its VM's: it has the size they all have, and goes with it. */
function requireDataDisk(disk: DiskRow): void {
  if (disk.kind === 'data') return;
  throw new CloudError(
    'disk_attached',
    'this is the OS disk of a VM: it cannot be resized, and is deleted with the VM',
  );
}

/** Without an operation under way, a disk is in these states when one of them failed. */
export function requireUsableDisk(disk: DiskRow): void {
  if (disk.state !== 'creating' && disk.state !== 'deleting') return;
  throw new CloudError('conflict', `the disk ${disk.id} is ${disk.state}: it cannot be used`);
}

async function opened(target: Target, name: OperationName, request: object): Promise<NewOperation> {
  const { sql, projectId, diskId, now, deadlineAt } = target;
  const operation = openOperation({
    projectId,
    resourceType: 'disk',
    resourceId: diskId,
    name,
    request,
    now,
    deadlineAt,
  });
  await insertOperation(sql, operation);
  return operation;
}
