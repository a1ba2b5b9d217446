import type { Queryable } from '@gantry/db/connect';
import { type BackupRow, lockBackup } from '@gantry/db/queries/backups/backups';
import {
  hasPoolRoom,
  lockSnapshot,
  readStoringHost,
  type SnapshotRow,
} from '@gantry/db/queries/snapshots/snapshots';
import { badRequest, CloudError, outOfStorage } from '@gantry/model/errors';
import { sizeGib } from './size.ts';
import { requireSnapshotsOnHost } from './storing-host.ts';

/** A cluster or a host copies at 50 MB/s or more. */
const COPY_MS_PER_GIB = 20_000;

/** Returns how long an operation may take that copies this much in a storage cluster. */
export function copyDeadlineMs(deadlineMs: number, gib: number): number {
  return deadlineMs + gib * COPY_MS_PER_GIB;
}

type Wanted = { size: string; location: string; block_size: number; type: string };
type Source = Pick<
  SnapshotRow,
  'id' | 'location' | 'disk_type' | 'block_size' | 'size_gib' | 'state'
> & { pool_id: string | null };
type SourceRequest = { projectId: string; disk: Wanted };

/**
 * Locks the snapshot that a new disk is copied from, and throws if the disk does not fit it. The copy is in the same
 * pool as the snapshot, or on the same host.
 */
export async function requireSourceSnapshot(
  sql: Queryable,
  { projectId, snapshotId, disk }: SourceRequest & { snapshotId: string },
): Promise<SnapshotRow> {
  const snapshot = await lockSnapshot(sql, { projectId, snapshotId, shared: true });
  const source = await requireFit(sql, { kind: 'snapshot', source: snapshot, disk });
  if (source.host_id !== null) {
    requireSnapshotsOnHost(await readStoringHost(sql, source.host_id));
  }
  return source;
}

/** The same for a backup. */
export async function requireSourceBackup(
  sql: Queryable,
  { projectId, backupId, disk }: SourceRequest & { backupId: string },
): Promise<BackupRow> {
  const backup = await lockBackup(sql, { projectId, backupId, shared: true });
  return await requireFit(sql, { kind: 'backup', source: backup, disk });
}

type Fit<S> = { kind: 'snapshot' | 'backup'; source: S | undefined; disk: Wanted };

async function requireFit<S extends Source>(
  sql: Queryable,
  { kind, source, disk }: Fit<S>,
): Promise<S> {
  if (!source) {
    throw badRequest([{ field: `${kind}_id`, reason: `is not a ${kind} of this project` }]);
  }
  const mismatch = (field: string, wanted: string | number, actual: string | number) =>
    wanted === actual ? [] : [{ field, reason: `must be the ${kind}'s ${actual}` }];
  const isSmaller = sizeGib(disk.size) < source.size_gib;
  const least = { field: 'size', reason: `must be at least the ${kind}'s ${source.size_gib}GiB` };
  const reasons = [
    ...mismatch('location', disk.location, source.location),
    ...mismatch('type', disk.type, source.disk_type),
    ...mismatch('block_size', disk.block_size, source.block_size),
    ...(isSmaller ? [least] : []),
  ];
  if (reasons.length > 0) throw badRequest(reasons);
  if (source.state !== 'ready') {
    const message = `the ${kind} is ${source.state}: use one that is ready`;
    throw new CloudError('conflict', message);
  }
  const { pool_id: poolId, location, disk_type: diskType } = source;
  const gib = sizeGib(disk.size);
  if (poolId !== null && !(await hasPoolRoom(sql, { poolId, gib })))
    throw outOfStorage({ location, diskType, gib });
  return source;
}
