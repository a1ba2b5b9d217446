/**
 * Makes, removes and restores snapshots in storage clusters, and copies them to new disks. The rows are the desired
 * state. Each task asks the cluster first, which is idempotent, and then records the result in one transaction that
 * checks the lease. So a scheduler that is killed anywhere leaves a row that the next holder of the lease finds, and
 * never a snapshot without a row.
 */
import type { Queryable } from '@gantry/db/connect';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import { snapshotView } from '@gantry/db/queries/snapshots/snapshot-view';
import {
  listUnsettledSnapshots,
  lockDeletedSnapshot,
  removeSnapshotRow,
  type UnsettledSnapshot,
  updateSnapshotFailed,
  updateSnapshotProblem,
  updateSnapshotReady,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { readSnapshotById } from '@gantry/db/queries/snapshots/snapshots';
import { openInterval } from '@gantry/db/queries/usage/meter';
import {
  isFinal,
  problemOf,
  recordAsHolder,
  type StorageTask,
  type StorageWork,
} from './storage-task.ts';

const BATCH_ROWS = 100;

/** Returns the snapshots of the location that have to be made or removed. */
export async function listSnapshotTasks(work: StorageWork): Promise<StorageTask[]> {
  const { location } = work.lease;
  const rows = await listUnsettledSnapshots(work.sql, { location, limit: BATCH_ROWS });
  return rows.map((snapshot) => ({
    key: snapshot.id,
    run: () => (snapshot.wanted === 'present' ? make(work, snapshot) : remove(work, snapshot)),
  }));
}

async function make(work: StorageWork, snapshot: UnsettledSnapshot): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  try {
    const cluster = work.cluster(cluster_id);
    if (!cluster) return;
    await cluster.createSnapshot({ pool, name, snapshot: snapshotId });
  } catch (error) {
    const problem = problemOf(error);
    work.log.warn({ error, snapshot_id: snapshotId }, 'snapshot not made');
    await recordAsHolder(work, async (sql) => {
      if (!isFinal(error)) return await updateSnapshotProblem(sql, { snapshotId, problem });
      await updateSnapshotFailed(sql, { snapshotId, problem });
      const failure = { code: 'storage_failed', message: problem };
      await failOperation(sql, { resourceId: snapshotId, failure });
    });
    return;
  }
  await recordAsHolder(work, (sql) => recordMade(sql, snapshotId));
}

/** Its metering begins when it can be used. A snapshot that was deleted meanwhile is removed by the next task. */
async function recordMade(sql: Queryable, snapshotId: string): Promise<void> {
  const made = await updateSnapshotReady(sql, snapshotId);
  if (!made) return;
  await openInterval(sql, {
    organizationId: made.organization_id,
    projectId: made.project_id,
    resourceId: snapshotId,
    region: made.region,
    metered: { metric: 'gb_hours', diskType: 'snapshot', sizeGb: made.size_gib },
  });
  await succeed(sql, snapshotId);
}

async function remove(work: StorageWork, snapshot: UnsettledSnapshot): Promise<void> {
  const { id: snapshotId, pool, disk_id: name, cluster_id } = snapshot;
  try {
    const cluster = work.cluster(cluster_id);
    if (!cluster) return;
    await cluster.removeSnapshot({ pool, name, snapshot: snapshotId });
  } catch (error) {
    const problem = problemOf(error);
    work.log.warn({ error, snapshot_id: snapshotId }, 'snapshot not removed');
    await recordAsHolder(work, (sql) => updateSnapshotProblem(sql, { snapshotId, problem }));
    return;
  }
  await recordAsHolder(work, async (sql) => {
    if (!(await lockDeletedSnapshot(sql, snapshotId))) return;
    await succeed(sql, snapshotId);
    await removeSnapshotRow(sql, snapshotId);
  });
}

async function succeed(sql: Queryable, snapshotId: string): Promise<void> {
  const row = await readSnapshotById(sql, snapshotId);
  if (row) await succeedOperation(sql, { resourceId: snapshotId, result: snapshotView(row) });
}
