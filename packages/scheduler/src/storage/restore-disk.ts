import { StorageError } from '@gantry/ceph/storage-error';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import { type RestoringDisk, updateDiskRestored } from '@gantry/db/queries/snapshots/snapshot-work';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';
import { writeWithLease } from './lease-writes.ts';
import { isFinal, storageFailure } from './storage-failure.ts';
import type { VolumeContext } from './volume-context.ts';

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
    if (!endsRestore(error, disk)) throw error;
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

/** A volume that a client has open was not changed, so a restore that its tenant no longer waits for can end. */
function endsRestore(error: unknown, { awaited }: RestoringDisk): error is StorageError {
  return isFinal(error) || (error instanceof StorageError && error.code === 'busy' && !awaited);
}
