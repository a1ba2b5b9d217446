/**
 * Makes and removes snapshots in storage clusters. The rows are the desired state. Each step asks the cluster first, which
 * is idempotent, and then records the result in a transaction that checks the lease. So a scheduler that is killed
 * anywhere leaves a row that the next holder of the lease finds, and never a snapshot without a row.
 *
 * If a guest is to be frozen, the snapshot is made after its host has reported that it is, and counts after its host has
 * reported that it was frozen until then. No clocks are compared.
 */
import type { Lease } from '@gantry/db/queries/placement/leases';
import { updateSnapshotTaken } from '@gantry/db/queries/snapshots/snapshot-freezes';
import {
  lockDeletedSnapshot,
  type UnsettledSnapshot,
} from '@gantry/db/queries/snapshots/snapshot-work';
import {
  freezeFailure,
  recordSnapshotFailed,
  recordSnapshotGone,
  recordSnapshotMade,
} from '../../settle/snapshots/record-snapshot.ts';
import { writeWithLease } from '../lease-writes.ts';
import { isFinal, storageFailure } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';

type Step = { lease: Lease; snapshot: UnsettledSnapshot };

export async function settleSnapshot(context: VolumeContext, step: Step): Promise<void> {
  const { wanted, id, freeze_state: freeze } = step.snapshot;
  if (wanted === 'deleted') await removeSnapshot(context, step);
  else if (freeze === 'held')
    await writeWithLease(context, step.lease, (tx) => recordSnapshotMade(tx, id));
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
    await writeWithLease(context, lease, (tx) => recordSnapshotFailed(tx, { snapshotId, failure }));
    return;
  }
  const isFrozen = snapshot.freeze_state === 'frozen';
  await writeWithLease(context, lease, (tx) =>
    isFrozen ? updateSnapshotTaken(tx, snapshotId) : recordSnapshotMade(tx, snapshotId),
  );
}

/** The guest was not frozen when the snapshot was made, or was not frozen at all: it is not what the tenant wants. */
async function discardSnapshot(context: VolumeContext, { lease, snapshot }: Step): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot: snapshotId }),
  );
  const failure = freezeFailure(snapshot);
  await writeWithLease(context, lease, (tx) => recordSnapshotFailed(tx, { snapshotId, failure }));
}

async function removeSnapshot(context: VolumeContext, { lease, snapshot }: Step): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot: snapshotId }),
  );
  await writeWithLease(context, lease, async (tx) => {
    if (await lockDeletedSnapshot(tx, snapshotId)) await recordSnapshotGone(tx, snapshotId);
  });
}
