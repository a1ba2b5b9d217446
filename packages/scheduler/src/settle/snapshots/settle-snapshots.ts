/**
 * What a report means for the snapshots of disks that the host stores: they were made or removed, or disks were created
 * from them or set back to them. Every order has a transaction of its own, because it locks snapshots and disks, which
 * come before hosts.
 */
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  failOperation,
  type OperationFailure,
  succeedOperation,
} from '@gantry/db/queries/settle/end-operation';
import {
  isCopyOfHost,
  listLostSnapshots,
  lockLostSnapshot,
  lockRemovedSnapshot,
  lockRestoreOfHost,
  lockUnmadeSnapshot,
} from '@gantry/db/queries/snapshots/host-snapshots';
import { updateSnapshotTaken } from '@gantry/db/queries/snapshots/snapshot-freezes';
import {
  updateDiskRestored,
  updateSnapshotProblem,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { lockExport, lockLostExports, readExport } from '@gantry/db/queries/storage/image-exports';
import { updateImageFailed, updateImageProblem } from '@gantry/db/queries/storage/image-work';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';
import { transact } from '@gantry/db/transact';
import { type HostReport, isUuid, reasonForTenants } from '../../attached/host-report.ts';
import {
  freezeFailure,
  recordSnapshotFailed,
  recordSnapshotGone,
  recordSnapshotMade,
} from './record-snapshot.ts';

type Reported = Pick<
  HostReport,
  'snapshots' | 'deletedSnapshots' | 'diskCopies' | 'diskRestores' | 'imageExports'
>;
type SnapshotReport = HostReport['snapshots'][number];
type OrderReport = HostReport['diskRestores'][number];
type Failure = OrderReport['failure'];

export async function settleSnapshots(
  sql: Sql,
  { hostId, report, isProof }: { hostId: string; report: Reported; isProof: boolean },
): Promise<void> {
  const each = async <T>(
    orders: readonly T[],
    idOf: (order: T) => string,
    settle: (tx: Queryable, order: T) => Promise<void>,
  ) => {
    for (const order of orders) {
      if (isUuid(idOf(order))) await transact(sql, (tx) => settle(tx, order));
    }
  };
  const byId = ({ id }: { id: string }) => id;
  await each(report.snapshots, byId, (tx, made) => settleMade(tx, { hostId, made }));
  await each(report.imageExports, byId, (tx, sent) => settleExport(tx, { hostId, sent }));
  if (!isProof) return;
  await each(report.deletedSnapshots, String, async (tx, snapshotId) => {
    if (await lockRemovedSnapshot(tx, { hostId, snapshotId }))
      await recordSnapshotGone(tx, snapshotId);
  });
  await each(report.diskCopies, byId, (tx, copy) => settleCopy(tx, { hostId, copy }));
  await each(report.diskRestores, byId, (tx, restore) => settleRestore(tx, { hostId, restore }));
}

async function settleMade(
  sql: Queryable,
  { hostId, made }: { hostId: string; made: SnapshotReport },
): Promise<void> {
  const { id: snapshotId, state, failure } = made;
  const snapshot = await lockUnmadeSnapshot(sql, { hostId, snapshotId });
  if (!snapshot) return;
  if (state === 'SNAPSHOT_STATE_FAILED') {
    await recordSnapshotFailed(sql, { snapshotId, failure: operationFailure(failure) });
  } else if (state === 'SNAPSHOT_STATE_WORKING') {
    const problem = reasonForTenants(failure?.message ?? '');
    if (problem !== '') await updateSnapshotProblem(sql, { snapshotId, problem });
  } else if (state === 'SNAPSHOT_STATE_TAKEN' || snapshot.freeze_state === 'frozen') {
    // It counts after the host has reported that the guest was frozen until then.
    await updateSnapshotTaken(sql, snapshotId);
  } else if (snapshot.freeze_state === 'none' || snapshot.freeze_state === 'held') {
    await recordSnapshotMade(sql, snapshotId);
  }
}

/** A copy that is complete is reported as a disk. */
async function settleCopy(
  sql: Queryable,
  { hostId, copy }: { hostId: string; copy: OrderReport },
): Promise<void> {
  const { id: diskId, failure, givenUp } = copy;
  if (!givenUp || !(await isCopyOfHost(sql, { hostId, diskId }))) return;
  await failOperation(sql, { resourceId: diskId, failure: operationFailure(failure) });
}

/** Content that was sent is no report: the scheduler that has received it has recorded it. */
async function settleExport(
  sql: Queryable,
  { hostId, sent }: { hostId: string; sent: OrderReport },
): Promise<void> {
  const { id: imageId, failure, givenUp } = sent;
  const key = { hostId, imageId };
  const problem = reasonForTenants(failure?.message ?? '');
  if (!(givenUp ? await lockExport(sql, key) : await readExport(sql, key))) return;
  if (givenUp) await recordExportFailed(sql, { imageId, message: problem });
  else if (problem !== '') await updateImageProblem(sql, { imageId, problem });
}

async function recordExportFailed(
  sql: Queryable,
  { imageId, message }: { imageId: string; message: string },
): Promise<void> {
  await updateImageFailed(sql, { imageId, problem: message });
  await failOperation(sql, {
    resourceId: imageId,
    failure: { code: 'storage_failed', message },
  });
}

/**
 * An order that was not carried out is withdrawn if the disk is as it was, and either no operation waits for it or it can
 * never be carried out.
 */
async function settleRestore(
  sql: Queryable,
  { hostId, restore }: { hostId: string; restore: OrderReport },
): Promise<void> {
  const { id: orderId, failure, givenUp } = restore;
  const order = await lockRestoreOfHost(sql, { hostId, orderId });
  if (!order) return;
  const { disk_id: diskId, project_id: projectId, snapshot_id: snapshotId, awaited } = order;
  const isUnchanged = givenUp || (failure?.code === 'disk_in_use' && !awaited);
  if (failure && !isUnchanged) return;
  await updateDiskRestored(sql, { diskId, snapshotId });
  if (!awaited) return;
  if (failure) {
    await failOperation(sql, { resourceId: diskId, failure: operationFailure(failure) });
    return;
  }
  const row = await readDisk(sql, { projectId, diskId });
  if (row) await succeedOperation(sql, { resourceId: diskId, result: diskView(row) });
}

/** Settles snapshots whose host is gone, or whose guest was not frozen. */
export async function settleLostSnapshots(sql: Sql, limit: number): Promise<void> {
  for (const snapshotId of await listLostSnapshots(sql, limit)) {
    await transact(sql, async (tx) => {
      const lost = await lockLostSnapshot(tx, snapshotId);
      if (!lost) return;
      if (lost.wanted === 'deleted') return await recordSnapshotGone(tx, snapshotId);
      const failure = lost.host_is_gone
        ? { code: 'storage_failed', message: 'the host that stores the disk was declared dead' }
        : freezeFailure(lost);
      await recordSnapshotFailed(tx, { snapshotId, failure });
    });
  }
}

/** Settles images whose content was to come from a host that is gone. */
export async function settleLostExports(sql: Sql, limit: number): Promise<void> {
  await transact(sql, async (tx) => {
    const message = 'the host that stores the snapshot was declared dead';
    for (const imageId of await lockLostExports(tx, limit))
      await recordExportFailed(tx, { imageId, message });
  });
}

function operationFailure(failure: Failure): OperationFailure {
  const code = failure?.code === 'freeze_failed' ? 'freeze_failed' : 'storage_failed';
  return { code, message: reasonForTenants(failure?.message ?? '') };
}
