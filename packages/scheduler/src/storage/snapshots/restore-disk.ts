import { StorageError } from '@gantry/ceph/storage-error';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import { type RestoringDisk, updateDiskRestored } from '@gantry/db/queries/snapshots/snapshot-work';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';
import { writeWithLease } from '../lease-writes.ts';
import { isFinal, storageFailure } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';

/**
 * Sets the content of a disk back to a snapshot. To repeat that is harmless: no VM with the disk can start before it is
 * recorded.
 */
export async function restoreDisk(
  context: VolumeContext,
  { lease, disk }: { lease: Lease; disk: RestoringDisk },
): Promise<void> {
  const { id: diskId, project_id: projectId, snapshot_id: snapshotId, pool, cluster_id } = disk;
  try {
    await context.clusters.use(cluster_id, (cluster) =>
      cluster.restoreSnapshot({ pool, name: diskId, snapshot: snapshotId }),
    );
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (!(await endsRestore(context, { error, disk }))) throw error;
    context.log.warn({ error, disk_id: diskId, snapshot_id: snapshotId }, 'disk not restored');
    await writeWithLease(context, lease, async (tx) => {
      if (!(await updateDiskRestored(tx, { diskId, snapshotId }))) return;
      await failOperation(tx, { resourceId: diskId, failure: storageFailure(error) });
    });
    return;
  }
  await writeWithLease(context, lease, async (tx) => {
    if (!(await updateDiskRestored(tx, { diskId, snapshotId }))) return;
    const row = await readDisk(tx, { projectId, diskId });
    if (row) await succeedOperation(tx, { resourceId: diskId, result: diskView(row) });
  });
}

/**
 * Whether the restore is given up: it fails, or its tenant no longer waits and a client has the volume open. It goes on if
 * an earlier attempt began to change the volume, because no VM may start with a part of the snapshot.
 */
async function endsRestore(
  { clusters }: VolumeContext,
  { error, disk }: { error: StorageError; disk: RestoringDisk },
): Promise<boolean> {
  const mayEnd = error.code === 'busy' ? !disk.awaited : isFinal(error);
  if (!mayEnd) return false;
  const at = { pool: disk.pool, name: disk.id };
  const volume = await clusters.use(disk.cluster_id, (cluster) => cluster.readVolume(at));
  return !volume?.isRestoring;
}
