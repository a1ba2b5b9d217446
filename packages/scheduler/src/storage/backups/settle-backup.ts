/**
 * Makes and removes backups of disks.
 *
 * 1. The cluster makes a snapshot with the id of the backup.
 * 2. It is exported to a temporary file: the changes since the newest backup of the disk whose snapshot the cluster still
 *    has, or the whole content.
 * 3. The file is stored, in a directory or a bucket, and verified, and its manifest is written.
 * 4. The backup is recorded as ready, under the lease, if the one that it is based on still exists.
 * 5. Snapshots of older backups are removed from the cluster: only the newest is needed for the next changes.
 *
 * Every step can be repeated. A scheduler that is killed anywhere leaves a row that the next holder of the lease finds; the
 * snapshot of the first attempt is kept, so the content is that of the first attempt.
 */
import { StorageError } from '@gantry/ceph/storage-error';
import type { Queryable } from '@gantry/db/connect';
import { backupView } from '@gantry/db/queries/backups/backup-view';
import {
  findBase,
  lockBase,
  lockDeletedBackup,
  type OldSnapshot,
  removeBackupRow,
  type UnsettledBackup,
  updateBackupFailed,
  updateBackupReady,
  updateSnapshotDropped,
} from '@gantry/db/queries/backups/backup-work';
import { readBackupById } from '@gantry/db/queries/backups/backups';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import { removeUnusedPassphrase } from '@gantry/db/queries/storage/volume-passphrases';
import { writeWithLease } from '../lease-writes.ts';
import { isFinal, storageFailure } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';

type Step = { lease: Lease; backup: UnsettledBackup };

export async function settleBackup(context: VolumeContext, step: Step): Promise<void> {
  if (step.backup.wanted === 'deleted') return await removeBackup(context, step);
  try {
    await makeBackup(context, step);
  } catch (error) {
    if (!isFinal(error)) throw error;
    await recordFailed(context, step, error);
  }
}

async function makeBackup(context: VolumeContext, step: Step): Promise<void> {
  const requireLease = () => writeWithLease(context, step.lease, async () => {});
  const file = await context.backupFiles.prepare(step.backup, requireLease);
  try {
    if (!(await makeFile(context, { ...step, file }))) await context.backupFiles.discard(file);
  } catch (error) {
    await context.backupFiles.discard(file).catch(() => {});
    throw error;
  }
}

/**
 * The file is published in the transaction that makes it count, so that only the holder of the lease can replace it.
 * Returns false if the backup is not wanted any more.
 */
async function makeFile(
  context: VolumeContext,
  { lease, backup, file }: Step & { file: string },
): Promise<boolean> {
  const { id: snapshot, pool, disk_id: name } = backup;
  const { parentId, bytes, sha256 } = await context.clusters.use(
    backup.cluster_id,
    async (cluster) => {
      await cluster.createSnapshot({ pool, name, snapshot });
      const since = await chooseBase(context.sql, backup, await cluster.readVolume({ pool, name }));
      const exported = await cluster.exportSnapshot({ pool, name, snapshot, since, file });
      return { parentId: since, ...exported };
    },
  );
  await context.backupFiles.verify(file, {
    version: 1,
    ...{ backup_id: snapshot, name: backup.name, project_id: backup.project_id, disk_id: name },
    ...{ disk_type: backup.disk_type, size_gib: backup.size_gib, block_size: backup.block_size },
    ...{ parent_id: parentId, bytes, sha256, requested_at: backup.created_at.toISOString() },
  });
  return await writeWithLease(context, lease, async (tx) => {
    if (parentId !== null && !(await lockBase(tx, parentId)))
      throw new StorageError('busy', 'the backup that this one is based on was deleted meanwhile');
    if (!(await updateBackupReady(tx, { backupId: snapshot, parentId, bytes, sha256 })))
      return false;
    await context.backupFiles.publish(backup, file);
    await succeed(tx, snapshot);
    return true;
  });
}

/** Without the snapshot of the earlier backup in the cluster, the changes since it are unknown. */
async function chooseBase(
  sql: Queryable,
  { disk_id, wants_full }: UnsettledBackup,
  volume: { snapshots: readonly string[] } | null,
): Promise<string | null> {
  if (wants_full) return null;
  const base = await findBase(sql, disk_id);
  return base !== undefined && volume?.snapshots.includes(base) ? base : null;
}

async function recordFailed(
  context: VolumeContext,
  { lease, backup: { id: backupId } }: Step,
  error: StorageError,
): Promise<void> {
  context.log.warn({ error, backup_id: backupId }, 'disk not backed up');
  const failure = storageFailure(error);
  await writeWithLease(context, lease, async (tx) => {
    await updateBackupFailed(tx, { backupId, problem: failure.message });
    await failOperation(tx, { resourceId: backupId, failure });
  });
}

async function removeBackup(context: VolumeContext, { lease, backup }: Step): Promise<void> {
  const { id: backupId, pool, disk_id: name, cluster_id } = backup;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot: backupId }),
  );
  await context.backupFiles.remove(backup);
  await writeWithLease(context, lease, async (tx) => {
    if (!(await lockDeletedBackup(tx, backupId))) return;
    await succeed(tx, backupId);
    await removeBackupRow(tx, backupId);
    await removeUnusedPassphrase(tx, name);
  });
}

/** Removes the snapshot of a backup from the cluster. The backup itself does not need it. */
export async function dropSnapshot(
  context: VolumeContext,
  { lease, old }: { lease: Lease; old: OldSnapshot },
): Promise<void> {
  const { backup_id: snapshot, disk_id: name, pool, cluster_id } = old;
  await context.clusters.use(cluster_id, (cluster) =>
    cluster.removeSnapshot({ pool, name, snapshot }),
  );
  await writeWithLease(context, lease, (tx) => updateSnapshotDropped(tx, snapshot));
}

async function succeed(sql: Queryable, backupId: string): Promise<void> {
  const row = await readBackupById(sql, backupId);
  if (row) await succeedOperation(sql, { resourceId: backupId, result: backupView(row) });
}
