import type { Queryable } from '@gantry/db/connect';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import {
  countDisksOfVm,
  type DiskRow,
  insertAttachment,
  lackStorage,
  listUnreachableDisks,
  lockDisks,
  lockHostsToAttach,
  updateAttachmentDetached,
} from '@gantry/db/queries/vms/disks';
import { MAX_DISKS_PER_VM } from '@gantry/model/disk-size';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import type { AttachmentMode } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { requireNotCopied, requireUsableDisk } from '../disks/change.ts';
import { requireNoOperation } from '../operations/open.ts';
import { requireIdleVm, requireState, startVmOperation } from './change.ts';
import type { AttachDisks, DetachDisks } from './schema.ts';

/**
 * Attaches and detaches disks. The rows of `disk_attachments` are the desired state; the host makes
 * it true. Every request locks the VM first and then the disks, so that the second of two requests
 * for one disk sees the rows of the first.
 */
type Target = { sql: Queryable; projectId: string; vmId: string; now: Date; deadlineMs: number };

export async function attachDisks(
  target: Target & { body: z.output<typeof AttachDisks> },
): Promise<NewOperation> {
  const { sql, vmId, body } = target;
  const diskIds = body.attach_disks.map(({ disk_id }) => disk_id);
  requireDistinct(diskIds, (index) => `attach_disks.${index}.disk_id`);
  const vm = await requireIdleVm(target);
  requireState(vm, 'ATTACH_DISKS');
  const disks = await requireIdleDisks(target, diskIds);
  for (const { disk_id, mode } of body.attach_disks) {
    const disk = diskOf(disks, disk_id);
    requireUsableDisk(disk);
    requireLocation(disk, vm.location);
    requireUnattached(disk, { vmId, mode });
  }
  await requireReachable(sql, { vmId, diskIds });
  await requireRoom(sql, vmId, diskIds.length);
  if (diskIds.length > 1) await lockHostsToAttach(sql, { vmId, diskIds });
  for (const { disk_id, mode } of body.attach_disks) {
    const shared = diskOf(disks, disk_id).type === 'shared-volume';
    const exclusive = mode === 'read-write' && !shared;
    await insertAttachment(sql, { vmId, diskId: disk_id, mode, exclusive });
  }
  if (await lackStorage(sql, { vmId, diskIds })) {
    throw new CloudError(
      'conflict',
      'the host of the VM has no room for the disks: attach them to another VM, or create smaller ones',
    );
  }
  return await startVmOperation(target, 'ATTACH_DISKS', body);
}

export async function detachDisks(
  target: Target & { body: z.output<typeof DetachDisks> },
): Promise<NewOperation> {
  const { sql, vmId, body } = target;
  requireDistinct(body.detach_disks, (index) => `detach_disks.${index}`);
  const vm = await requireIdleVm(target);
  requireState(vm, 'DETACH_DISKS');
  const disks = await requireIdleDisks(target, body.detach_disks);
  for (const disk of disks) {
    requireDetachable(disk, vmId);
    requireNotCopied(disk);
    await updateAttachmentDetached(sql, { vmId, diskId: disk.id });
  }
  return await startVmOperation(target, 'DETACH_DISKS', body);
}

function requireDistinct(ids: string[], field: (index: number) => string): void {
  const repeated = ids.flatMap((id, index) => (ids.indexOf(id) < index ? [index] : []));
  if (repeated.length === 0) return;
  throw badRequest(
    repeated.map((index) => ({
      field: field(index),
      reason: 'is in the list twice: name each disk once',
    })),
  );
}

async function requireIdleDisks({ sql, projectId }: Target, diskIds: string[]): Promise<DiskRow[]> {
  const disks = await lockDisks(sql, { projectId, diskIds });
  for (const diskId of diskIds) {
    diskOf(disks, diskId);
    await requireNoOperation(sql, diskId);
  }
  return disks;
}

function diskOf(disks: DiskRow[], diskId: string): DiskRow {
  const disk = disks.find(({ id }) => id === diskId);
  if (!disk) throw notFound(`disk ${diskId}`);
  return disk;
}

export function requireLocation(disk: DiskRow, location: string): void {
  if (disk.location === location) return;
  throw new CloudError(
    'conflict',
    `the disk ${disk.id} is in "${disk.location}" and the VM in "${location}": use a disk in ` +
      'the location of the VM',
  );
}

/**
 * A disk has one VM that writes or any number of VMs that read. All VMs may write a shared volume.
 */
export function requireUnattached(
  disk: DiskRow,
  { vmId, mode }: { vmId: string; mode: AttachmentMode },
): void {
  const { id, kind, type, attachments } = disk;
  if (kind === 'os')
    throw new CloudError(
      'disk_attached',
      `the disk ${id} is the OS disk of a VM: it cannot be attached to another VM`,
    );
  if (attachments.some(({ vm_id }) => vm_id === vmId)) {
    throw new CloudError('disk_attached', `the disk ${id} is already attached to this VM`);
  }
  const onlyRead = mode === 'read-only' && attachments.every((other) => other.mode === 'read-only');
  if (attachments.length === 0 || type === 'shared-volume' || onlyRead) return;
  throw new CloudError(
    'disk_attached',
    `the disk ${id} is attached to another VM: attach it read-only everywhere, or detach it ` +
      'there first',
  );
}

/** Refuses disks of other hosts: the VM's host would create an empty disk in place of each. */
async function requireReachable(
  sql: Queryable,
  target: { vmId: string; diskIds: string[] },
): Promise<void> {
  const [diskId] = await listUnreachableDisks(sql, target);
  if (diskId === undefined) return;
  throw new CloudError(
    'conflict',
    `the disk ${diskId} is stored on another host than the VM: attach it to a VM on that host`,
  );
}

async function requireRoom(sql: Queryable, vmId: string, added: number): Promise<void> {
  const attached = await countDisksOfVm(sql, vmId);
  if (attached + added <= MAX_DISKS_PER_VM) return;
  throw new CloudError(
    'conflict',
    `a VM has at most ${MAX_DISKS_PER_VM} disks, including its OS disk, and this VM has ` +
      `${attached}: detach a disk first`,
  );
}

function requireDetachable(disk: DiskRow, vmId: string): void {
  const attachment = disk.attachments.find(({ vm_id }) => vm_id === vmId);
  if (!attachment) {
    throw new CloudError('conflict', `the disk ${disk.id} is not attached to this VM`);
  }
  if (attachment.attachment_type === 'os') {
    throw new CloudError(
      'conflict',
      `the disk ${disk.id} is the OS disk of this VM: it cannot be detached`,
    );
  }
}
