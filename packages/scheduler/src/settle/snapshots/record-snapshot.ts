/** What became of a snapshot, in a storage cluster or on a host. */
import type { Queryable } from '@gantry/db/connect';
import {
  failOperation,
  type OperationFailure,
  succeedOperation,
} from '@gantry/db/queries/settle/end-operation';
import { snapshotView } from '@gantry/db/queries/snapshots/snapshot-view';
import {
  removeSnapshotRow,
  type UnsettledSnapshot,
  updateSnapshotFailed,
  updateSnapshotReady,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { readSnapshotById } from '@gantry/db/queries/snapshots/snapshots';
import { openInterval } from '@gantry/db/queries/usage/meter';

/** Its metering begins when it can be used. A snapshot that was deleted meanwhile is removed by the next step. */
export async function recordSnapshotMade(sql: Queryable, snapshotId: string): Promise<void> {
  const made = await updateSnapshotReady(sql, snapshotId);
  if (!made) return;
  await openInterval(sql, {
    ...{ organizationId: made.organization_id, projectId: made.project_id },
    ...{ resourceId: snapshotId, region: made.region },
    metered: { metric: 'gb_hours', diskType: 'snapshot', sizeGb: made.size_gib },
  });
  await succeed(sql, snapshotId);
}

export async function recordSnapshotFailed(
  sql: Queryable,
  { snapshotId, failure }: { snapshotId: string; failure: OperationFailure },
): Promise<void> {
  await updateSnapshotFailed(sql, { snapshotId, problem: failure.message });
  await failOperation(sql, { resourceId: snapshotId, failure });
}

/** The caller has locked the snapshot, which was to be removed. */
export async function recordSnapshotGone(sql: Queryable, snapshotId: string): Promise<void> {
  await succeed(sql, snapshotId);
  await removeSnapshotRow(sql, snapshotId);
}

/** Why a snapshot of a guest that was to be frozen is not what the tenant wants. */
export function freezeFailure({
  freeze_state,
  problem,
}: Pick<UnsettledSnapshot, 'freeze_state' | 'problem'>): OperationFailure {
  const code = 'freeze_failed';
  if (freeze_state === 'failed') return { code, message: `the guest was not frozen: ${problem}` };
  if (freeze_state === 'expired')
    return { code, message: 'the guest was thawed before the snapshot was made' };
  const message = 'the host of the VM cannot freeze its guest, or the VM has no host any more';
  return { code, message };
}

async function succeed(sql: Queryable, snapshotId: string): Promise<void> {
  const row = await readSnapshotById(sql, snapshotId);
  if (row) await succeedOperation(sql, { resourceId: snapshotId, result: snapshotView(row) });
}
