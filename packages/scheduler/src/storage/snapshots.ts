/**
 * Makes and removes snapshots in storage clusters. The rows are the desired state. Each step asks the cluster first, which
 * is idempotent, and then records the result in a transaction that checks the lease. So a scheduler that is killed
 * anywhere leaves a row that the next holder of the lease finds, and never a snapshot without a row.
 *
 * If a guest is to be frozen, the snapshot is made after its host has reported that it is, and counts after its host has
 * reported that it was frozen until then. No clocks are compared.
 */
import type { Queryable } from '@gantry/db/connect';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import { updateSnapshotTaken } from '@gantry/db/queries/snapshots/snapshot-freezes';
import { snapshotView } from '@gantry/db/queries/snapshots/snapshot-view';
import {
  lockDeletedSnapshot,
  removeSnapshotRow,
  type UnsettledSnapshot,
  updateSnapshotFailed,
  updateSnapshotReady,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { readSnapshotById } from '@gantry/db/queries/snapshots/snapshots';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { writeWithLease } from './lease-writes.ts';
import { isFinal, storageFailure } from './storage-failure.ts';
import type { VolumeContext } from './volume-context.ts';

type Step = { lease: Lease; snapshot: UnsettledSnapshot };

export async function settleSnapshot(context: VolumeContext, step: Step): Promise<void> {
  const { wanted, id, freeze_state: freeze } = step.snapshot;
  if (wanted === 'deleted') await removeSnapshot(context, step);
  else if (freeze === 'held') await writeWithLease(context, step.lease, (tx) => recordMade(tx, id));
  else if (freeze === 'none' || freeze === 'frozen') await makeSnapshot(context, step);
  else await discardSnapshot(context, step);
}

async function makeSnapshot(context: VolumeContext, { lease, snapshot }: Step): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  try {
    await context.clusters.use(cluster_id, (cluster) =>
      cluster.createSnapshot({ pool, name, snapshot: snapshotId }),
    );
  } catch (error) {
    if (!isFinal(error)) throw error;
    context.log.warn({ error, snapshot_id: snapshotId }, 'snapshot not made');
    const failure = storageFailure(error);
    await writeWithLease(context, lease, async (tx) => {
      await updateSnapshotFailed(tx, { snapshotId, problem: failure.message });
      await failOperation(tx, { resourceId: snapshotId, failure });
    });
    return;
  }
  const isFrozen = snapshot.freeze_state === 'frozen';
  await writeWithLease(context, lease, (tx) =>
    isFrozen ? updateSnapshotTaken(tx, snapshotId) : recordMade(tx, snapshotId),
  );
}

/** The guest was not frozen when the snapshot was made, or was not frozen at all: it is not what the tenant wants. */
async function discardSnapshot(context: VolumeContext, { lease, snapshot }: Step): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot: snapshotId }),
  );
  const failure = { code: 'freeze_failed', message: whyNotFrozen(snapshot) };
  await writeWithLease(context, lease, async (tx) => {
    await updateSnapshotFailed(tx, { snapshotId, problem: failure.message });
    await failOperation(tx, { resourceId: snapshotId, failure });
  });
}

function whyNotFrozen({ freeze_state, problem }: UnsettledSnapshot): string {
  if (freeze_state === 'failed') return `the guest was not frozen: ${problem}`;
  if (freeze_state === 'expired') return 'the guest was thawed before the snapshot was made';
  return 'the host of the VM cannot freeze its guest, or the VM has no host any more';
}

/** Its metering begins when it can be used. A snapshot that was deleted meanwhile is removed by the next step. */
async function recordMade(sql: Queryable, snapshotId: string): Promise<void> {
  const made = await updateSnapshotReady(sql, snapshotId);
  if (!made) return;
  await openInterval(sql, {
    ...{ organizationId: made.organization_id, projectId: made.project_id },
    ...{ resourceId: snapshotId, region: made.region },
    metered: { metric: 'gb_hours', diskType: 'snapshot', sizeGb: made.size_gib },
  });
  await succeed(sql, snapshotId);
}

async function removeSnapshot(context: VolumeContext, { lease, snapshot }: Step): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot: snapshotId }),
  );
  await writeWithLease(context, lease, async (tx) => {
    if (!(await lockDeletedSnapshot(tx, snapshotId))) return;
    await succeed(tx, snapshotId);
    await removeSnapshotRow(tx, snapshotId);
  });
}

async function succeed(sql: Queryable, snapshotId: string): Promise<void> {
  const row = await readSnapshotById(sql, snapshotId);
  if (row) await succeedOperation(sql, { resourceId: snapshotId, result: snapshotView(row) });
}
