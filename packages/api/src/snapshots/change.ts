import type { Queryable } from '@gantry/db/connect';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { listWritingVms } from '@gantry/db/queries/snapshots/snapshot-freezes';
import { snapshotView } from '@gantry/db/queries/snapshots/snapshot-view';
import {
  insertSnapshot,
  listUsersOfSnapshot,
  lockSnapshot,
  readDiskStorage,
  readSnapshot,
  type SnapshotRow,
  type StoringHost,
  updateSnapshot,
  updateSnapshotDeleted,
} from '@gantry/db/queries/snapshots/snapshots';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import {
  type DiskRow,
  isStorageExceeded,
  lockDisks,
  lockStorageOfDisk,
  lockVmsOfDisk,
  readDisk,
} from '@gantry/db/queries/vms/disks';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { requireUsableDisk } from '../disks/change.ts';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import { requireSnapshotsOnHost } from '../disks/storing-host.ts';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import type { ChangeSnapshot, CreateSnapshot } from './schema.ts';

type Place = { sql: Queryable; projectId: string; now: Date; deadlineMs: number };
export type SnapshotTarget = Place & { snapshotId: string };

/**
 * Requests a snapshot of a disk, which may be attached to a running VM. Unless the guest is frozen, its content is what the
 * guest has written by the time the cluster makes the snapshot, as after a power failure.
 */
export async function createSnapshot(
  creation: Place & { body: z.output<typeof CreateSnapshot> },
): Promise<NewOperation> {
  const { sql, projectId, body, now } = creation;
  const diskId = body.disk_id;
  // VMs are locked before disks, and those of other projects not at all.
  if (body.freeze && (await readDisk(sql, { projectId, diskId }))) await lockVmsOfDisk(sql, diskId);
  const [disk] = await lockDisks(sql, { projectId, diskIds: [diskId] });
  if (!disk) throw badRequest([{ field: 'disk_id', reason: 'is not a disk of this project' }]);
  await requireNoOperation(sql, diskId);
  const { pool_id, is_shared, host } = await readDiskStorage(sql, diskId);
  if (is_shared)
    throw new CloudError('conflict', 'the disk is a shared volume, which has no snapshots');
  requireUsableDisk(disk);
  const keeper = pool_id === null ? requireLocalSnapshots(disk, host) : null;
  const snapshotId = newId(now.getTime());
  const { name, tags = {} } = body;
  const freezeVmId = body.freeze ? await chooseFrozenVm(sql, diskId) : null;
  if (keeper) await lockStorageOfDisk(sql, diskId);
  await insertSnapshot(sql, { id: snapshotId, projectId, name, tags, diskId, freezeVmId, at: now });
  if (keeper && (await isStorageExceeded(sql, keeper.id))) {
    throw new CloudError(
      'conflict',
      'the host that stores the disk has no room for a snapshot of it',
    );
  }
  // A host copies the disk.
  const deadlineMs = keeper
    ? copyDeadlineMs(creation.deadlineMs, disk.size_gib)
    : creation.deadlineMs;
  return await startOperation(
    sql,
    opening({ ...creation, snapshotId, deadlineMs }, 'CREATE', body),
  );
}

function requireLocalSnapshots(disk: DiskRow, host: StoringHost | null): StoringHost {
  if (disk.type === 'shared-volume') {
    throw new CloudError('conflict', 'the disk is a directory, which can have no snapshots');
  }
  return requireSnapshotsOnHost(host);
}

/** Returns the VM whose guest writes to the disk; null if none does, so that there is nothing to freeze. */
async function chooseFrozenVm(sql: Queryable, diskId: string): Promise<string | null> {
  const [vm] = await listWritingVms(sql, diskId);
  if (!vm || vm.state === 'STATE_SHUTOFF') return null;
  if (vm.state === 'STATE_RUNNING') return vm.id;
  throw new CloudError(
    'conflict',
    `the VM ${vm.id} is in ${vm.state}: its guest can be frozen in STATE_RUNNING, and need not be in STATE_SHUTOFF`,
  );
}

/** Replaces the name or the tags, which succeeds at once. */
export async function changeSnapshot(
  target: SnapshotTarget & { body: z.output<typeof ChangeSnapshot> },
): Promise<NewOperation> {
  const { sql, projectId, snapshotId, body } = target;
  await requireIdleSnapshot(target);
  await updateSnapshot(sql, { projectId, snapshotId, ...body });
  const after = await readSnapshot(sql, { projectId, snapshotId });
  if (!after) throw new Error('BUG: a locked snapshot is missing');
  return await recordSucceededOperation(sql, opening(target, 'UPDATE', body), snapshotView(after));
}

/** The metering ends with the request, whenever the cluster removes the snapshot. */
export async function deleteSnapshot(target: SnapshotTarget): Promise<NewOperation> {
  const { sql, snapshotId } = target;
  await requireIdleSnapshot(target);
  const userIds = await listUsersOfSnapshot(sql, snapshotId);
  if (userIds.length > 0) {
    throw new CloudError(
      'conflict',
      `the snapshot is being copied to ${userIds.join(', ')}: wait until that is complete`,
    );
  }
  await updateSnapshotDeleted(sql, snapshotId);
  await closeInterval(sql, { resourceId: snapshotId });
  return await startOperation(sql, opening(target, 'DELETE', {}));
}

async function requireIdleSnapshot(target: SnapshotTarget): Promise<SnapshotRow> {
  const snapshot = await lockSnapshot(target.sql, { ...target, shared: false });
  if (!snapshot) throw notFound('snapshot');
  await requireNoOperation(target.sql, target.snapshotId);
  return snapshot;
}

/** Throws if the content of the snapshot cannot be used. */
export function requireReadySnapshot({ id, state }: SnapshotRow): void {
  if (state === 'ready') return;
  throw new CloudError('conflict', `the snapshot ${id} is ${state}: use one that is ready`);
}

function opening(target: SnapshotTarget, name: OperationName, request: object) {
  const { projectId, snapshotId: resourceId, now, deadlineMs } = target;
  const resourceType = 'snapshot' as const;
  return { projectId, resourceType, resourceId, name, request, now, deadlineMs };
}
