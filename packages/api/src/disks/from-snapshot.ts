import type { Queryable } from '@gantry/db/connect';
import {
  hasPoolRoom,
  lockSnapshot,
  type SnapshotRow,
} from '@gantry/db/queries/snapshots/snapshots';
import { badRequest, CloudError } from '@gantry/model/errors';
import { sizeGib } from './size.ts';

/** A cluster copies at 50 MB/s or more. */
const COPY_MS_PER_GIB = 20_000;

/** Returns how long an operation may take that copies this much in a storage cluster. */
export function copyDeadlineMs(deadlineMs: number, gib: number): number {
  return deadlineMs + gib * COPY_MS_PER_GIB;
}

type Wanted = { size: string; location: string; block_size: number; type: string };

/**
 * Locks the snapshot that a new disk is copied from, and throws if the disk does not fit it. The copy is in the same
 * pool as the snapshot.
 */
export async function requireSource(
  sql: Queryable,
  { projectId, snapshotId, disk }: { projectId: string; snapshotId: string; disk: Wanted },
): Promise<SnapshotRow> {
  const snapshot = await lockSnapshot(sql, { projectId, snapshotId, shared: true });
  if (!snapshot) {
    throw badRequest([{ field: 'snapshot_id', reason: 'is not a snapshot of this project' }]);
  }
  const reasons = [
    mismatch('location', disk.location, snapshot.location),
    mismatch('type', disk.type, snapshot.disk_type),
    mismatch('block_size', disk.block_size, snapshot.block_size),
  ].flatMap((reason) => reason ?? []);
  if (sizeGib(disk.size) < snapshot.size_gib) {
    reasons.push({
      field: 'size',
      reason: `must be at least the snapshot's ${snapshot.size_gib}GiB`,
    });
  }
  if (reasons.length > 0) throw badRequest(reasons);
  if (snapshot.state !== 'ready') {
    const message = `the snapshot is ${snapshot.state}: use one that is ready`;
    throw new CloudError('conflict', message);
  }
  const room = { poolId: snapshot.pool_id, sizeGib: sizeGib(disk.size) };
  if (!(await hasPoolRoom(sql, room))) {
    throw new CloudError('conflict', 'the storage pool of the snapshot has no room for the disk');
  }
  return snapshot;
}

function mismatch(field: string, wanted: string | number, actual: string | number) {
  return wanted === actual ? null : { field, reason: `must be the snapshot's ${actual}` };
}
