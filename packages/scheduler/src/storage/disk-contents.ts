/**
 * Sets disks back to their snapshots, and copies snapshots to new disks. A copy depends on nothing, so a snapshot can
 * be deleted after it (decision 0018: the parent of a clone is an image, never a disk).
 */
import type { Volume } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Queryable } from '@gantry/db/connect';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import {
  type CopiedDisk,
  discardCopy,
  listDisksToCopy,
  listRestoringDisksOf,
  lockDiskToCopy,
  type RestoringDisk,
  updateDiskCopied,
  updateDiskRestored,
  updateVolumeProblem,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';
import {
  GIB,
  isFinal,
  problemOf,
  recordAsHolder,
  type StorageTask,
  type StorageWork,
} from './storage-task.ts';

const BATCH_ROWS = 100;

/** Returns the disks of the location whose content has to be copied or set back. */
export async function listDiskContentTasks(work: StorageWork): Promise<StorageTask[]> {
  const wanted = { location: work.lease.location, limit: BATCH_ROWS };
  const restored = await listRestoringDisksOf(work.sql, wanted);
  const copied = await listDisksToCopy(work.sql, wanted);
  return [
    ...restored.map((disk) => ({ key: disk.id, run: () => restore(work, disk) })),
    ...copied.map((disk) => ({ key: disk.id, run: () => copy(work, disk) })),
  ];
}

async function restore(work: StorageWork, disk: RestoringDisk): Promise<void> {
  const { id: diskId, snapshot_id: snapshotId, pool, cluster_id } = disk;
  try {
    const cluster = work.cluster(cluster_id);
    if (!cluster) return;
    await cluster.restoreSnapshot({ pool, name: diskId, snapshot: snapshotId });
  } catch (error) {
    const problem = problemOf(error);
    work.log.warn({ error, disk_id: diskId, snapshot_id: snapshotId }, 'disk not restored');
    // A volume that a client has open was not changed, so a restore that its tenant no longer waits for can end.
    const isBusy = error instanceof StorageError && error.code === 'busy';
    const ends = isFinal(error) || (isBusy && !disk.awaited);
    await recordAsHolder(work, async (sql) => {
      if (!ends) return await updateVolumeProblem(sql, { diskId, problem });
      if (!(await updateDiskRestored(sql, { diskId, snapshotId }))) return;
      await failOperation(sql, { resourceId: diskId, failure: storageFailure(problem) });
    });
    return;
  }
  await recordAsHolder(work, async (sql) => {
    if (!(await updateDiskRestored(sql, { diskId, snapshotId }))) return;
    await succeed(sql, disk);
  });
}

async function copy(work: StorageWork, disk: CopiedDisk): Promise<void> {
  const { id: diskId, pool, cluster_id, size_gib } = disk;
  let volume: Volume;
  try {
    const cluster = work.cluster(cluster_id);
    if (!cluster) return;
    volume = await cluster.copySnapshot({
      from: { pool, name: disk.from_disk_id, snapshot: disk.snapshot_id },
      to: {
        ...{ pool, name: diskId, sizeBytes: size_gib * GIB },
        labels: { installation: work.installation, resource: diskId },
      },
    });
  } catch (error) {
    const problem = problemOf(error);
    work.log.warn({ error, disk_id: diskId, snapshot_id: disk.snapshot_id }, 'disk not copied');
    await recordAsHolder(work, async (sql) => {
      await updateVolumeProblem(sql, { diskId, problem });
      if (isFinal(error)) {
        await failOperation(sql, { resourceId: diskId, failure: storageFailure(problem) });
      }
    });
    return;
  }
  await recordAsHolder(work, (sql) => recordCopied(sql, disk, volume));
}

/** A disk that was deleted during the copy has left its row: then the copy is discarded like its volume. */
async function recordCopied(sql: Queryable, disk: CopiedDisk, volume: Volume): Promise<void> {
  const locked = await lockDiskToCopy(sql, disk.id);
  if (!locked) return await discardCopy(sql, disk);
  if (locked.observed_size_gib !== null) return;
  await updateDiskCopied(sql, { diskId: disk.id, volumeId: volume.id, sizeGib: disk.size_gib });
  await openInterval(sql, {
    organizationId: locked.organization_id,
    projectId: locked.project_id,
    resourceId: disk.id,
    region: locked.region,
    metered: { metric: 'gb_hours', diskType: locked.type, sizeGb: disk.size_gib },
  });
  await succeed(sql, { id: disk.id, project_id: locked.project_id });
}

async function succeed(
  sql: Queryable,
  { id, project_id }: { id: string; project_id: string },
): Promise<void> {
  const row = await readDisk(sql, { projectId: project_id, diskId: id });
  if (row) await succeedOperation(sql, { resourceId: id, result: diskView(row) });
}

function storageFailure(message: string) {
  return { code: 'storage_failed', message };
}
