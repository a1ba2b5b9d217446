import type { NewOperation } from '@gantry/db/queries/operations/operations';
import {
  lockSnapshot,
  readDiskStorage,
  readSnapshot,
  updateDiskRestoring,
} from '@gantry/db/queries/snapshots/snapshots';
import { CloudError, notFound } from '@gantry/model/errors';
import { requireIdleDisk, requireUsableDisk } from '../disks/change.ts';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import { requireSnapshotsOnHost } from '../disks/storing-host.ts';
import { operationInProgress, startOperation } from '../operations/open.ts';
import { requireReadySnapshot, type SnapshotTarget } from './change.ts';

/**
 * Requests that the content of a snapshot's disk is set back to the snapshot. It is an operation on the disk, so that
 * the disk cannot be changed meanwhile. Its VM has to be stopped and cannot start before the end.
 */
export async function restoreSnapshot(target: SnapshotTarget): Promise<NewOperation> {
  const { sql, projectId, snapshotId, now, deadlineMs } = target;
  const known = await readSnapshot(sql, { projectId, snapshotId });
  if (!known) throw notFound('snapshot');
  const diskId = known.disk_id;
  const disk = await requireIdleDisk({ ...target, diskId }).catch((error: unknown) => {
    if (!(error instanceof CloudError) || error.code !== 'not_found') throw error;
    throw new CloudError(
      'conflict',
      'the disk of the snapshot was deleted: create a disk from the snapshot instead',
    );
  });
  const snapshot = await lockSnapshot(sql, { projectId, snapshotId, shared: true });
  if (!snapshot) throw notFound('snapshot');
  requireReadySnapshot(snapshot);
  requireUsableDisk(disk);
  const { snapshotting, at_rest, host } = await readDiskStorage(sql, diskId);
  if (snapshotting) throw operationInProgress();
  if (snapshot.host_id !== null && requireSnapshotsOnHost(host).id !== snapshot.host_id) {
    throw new CloudError('conflict', 'the disk and its snapshot are not on the same host');
  }
  if (!at_rest) {
    const vmIds = disk.attachments.map(({ vm_id }) => vm_id).join(', ');
    throw new CloudError(
      'conflict',
      `the disk is attached to ${vmIds}: stop the VM or detach the disk first`,
    );
  }
  await updateDiskRestoring(sql, { diskId, snapshotId });
  return await startOperation(sql, {
    ...{ projectId, resourceType: 'disk', resourceId: diskId, name: 'RESTORE', now },
    request: { snapshot_id: snapshotId },
    deadlineMs: copyDeadlineMs(deadlineMs, disk.size_gib),
  });
}
