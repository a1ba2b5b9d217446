import type { BackupPart, NewVolume, StorageCluster, Volume } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import { GIB } from '@gantry/daemon/units';
import { updateUnmadeDiskDeleted } from '@gantry/db/queries/backups/backup-work';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation } from '@gantry/db/queries/settle/end-operation';
import type { VolumeToChange } from '@gantry/db/queries/storage/volume-work';
import {
  insertDiscardedVolume,
  type MadeVolume,
  updateVolumeGrown,
  updateVolumeMade,
} from '@gantry/db/queries/storage/volumes';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { imageVolumeName } from './images/custom-images.ts';
import { labelsOf, writeWithLease } from './lease-writes.ts';
import { isFinal, storageFailure } from './storage-failure.ts';
import type { VolumeContext } from './volume-context.ts';
import { requireEncryption } from './volume-passphrases.ts';
import { shareIdOf, shareNameOf, storeOf } from './volume-store.ts';

type Change = { context: VolumeContext; lease: Lease; volume: VolumeToChange };

/**
 * Creates the volume of a disk, or grows it. Both are idempotent: after a crash between the cluster and the database the
 * next holder of the lease repeats them.
 */
export async function changeVolume(change: Change): Promise<void> {
  const { context, lease, volume } = change;
  if (volume.observed_size_gib === null) {
    try {
      return await createVolume(change);
    } catch (error) {
      if (volume.backups === null || !isFinal(error)) throw error;
      return await giveUp(change, error);
    }
  }
  const { cluster_id, disk_id: diskId, size_gib: sizeGib } = volume;
  await context.clusters.use(cluster_id, (cluster) =>
    storeOf(cluster, volume).grow({ name: diskId, sizeBytes: sizeGib * GIB }),
  );
  await writeWithLease(context, lease, (tx) => updateVolumeGrown(tx, { diskId, sizeGib }));
}

async function createVolume(change: Change): Promise<void> {
  const { context, volume } = change;
  const { pool_id: poolId, disk_id: diskId, size_gib: sizeGib } = volume;
  const made = volume.file_system === '' ? await makeVolume(change) : await makeShare(change);
  const known = await record(change, { diskId, sizeGib, ...made });
  // Needs no lease: to remove the volume of a disk that does not exist is never wrong.
  if (!known) await insertDiscardedVolume(context.sql, { diskId, poolId });
}

type Made = Pick<MadeVolume, 'volumeId' | 'parentId'>;

async function makeShare({ context, volume }: Change): Promise<Made> {
  const { cluster_id, pool, disk_id: diskId, size_gib: sizeGib } = volume;
  const [at, sizeBytes] = [shareNameOf(volume, diskId), sizeGib * GIB];
  await context.clusters.use(cluster_id, async (cluster) => {
    const created = await cluster.createShare({ ...at, pool, sizeBytes });
    // A share of an interrupted attempt may have the size that the disk had then.
    if (created.sizeBytes < sizeBytes) await cluster.growShare({ ...at, sizeBytes });
  });
  return { volumeId: shareIdOf(diskId), parentId: '' };
}

async function makeVolume({ context, lease, volume }: Change): Promise<Made> {
  const { cluster_id, pool, disk_id: diskId, size_gib: sizeGib, image } = volume;
  const sizeBytes = sizeGib * GIB;
  const parent = image ? await parentOf({ context, lease, volume }, image) : undefined;
  const encryption = await requireEncryption(context, { lease, volume });
  const make = async (parts: BackupPart[] | null) =>
    await context.clusters.use(cluster_id, async (cluster) => {
      const labels = labelsOf(volume, diskId);
      const wanted = { pool, name: diskId, sizeBytes, labels, ...(encryption && { encryption }) };
      const created = parts
        ? await cluster.importBackup({ ...wanted, parts })
        : volume.source
          ? await copySource(cluster, { wanted, source: volume.source })
          : await cluster.createVolume({
              ...wanted,
              ...(parent === undefined ? {} : { image: parent }),
            });
      // A volume of an interrupted attempt may have the size that the disk had then.
      if (created.sizeBytes < sizeBytes)
        await cluster.growVolume({ pool, name: diskId, sizeBytes });
      return created;
    });
  const made = await (volume.backups ? withParts(context, volume.backups, make) : make(null));
  return { volumeId: made.id, parentId: made.parentId ?? '' };
}

/** Returns the volume that an OS disk is a clone of. An image of a project is complete before a VM can have it. */
async function parentOf(
  { context, lease, volume }: Change,
  image: NonNullable<VolumeToChange['image']>,
): Promise<string> {
  if (image.is_custom) return imageVolumeName(image.id);
  return await context.images.require({ lease, place: volume, image });
}

/** A disk from a snapshot is a copy, because hosts that open a clone can read its parent, and disks are secret. */
async function copySource(
  cluster: StorageCluster,
  { wanted, source }: { wanted: NewVolume; source: NonNullable<VolumeToChange['source']> },
): Promise<Volume> {
  if (source.disk_id === null)
    throw new StorageError('not_found', 'the snapshot of the disk was deleted');
  const from = { pool: wanted.pool, name: source.disk_id, snapshot: source.snapshot_id };
  return await cluster.copySnapshot({ from, to: wanted });
}

async function withParts<T>(
  { backupFiles }: VolumeContext,
  backups: NonNullable<VolumeToChange['backups']>,
  use: (parts: BackupPart[]) => Promise<T>,
): Promise<T> {
  if (backups.length === 0)
    throw new StorageError('not_found', 'the backup of the disk was deleted');
  return await backupFiles.withFiles(backups, (files) =>
    use(
      backups.map(({ id: snapshot, sha256 }, index) => {
        return { file: files[index] ?? '', sha256, snapshot };
      }),
    ),
  );
}

/** The operation fails with the reason, and the disk is removed: without the content of its backup it is of no use. */
async function giveUp({ context, lease, volume }: Change, error: StorageError): Promise<void> {
  const diskId = volume.disk_id;
  context.log.warn({ error, disk_id: diskId }, 'disk not made of its backup');
  await writeWithLease(context, lease, async (tx) => {
    await failOperation(tx, { resourceId: diskId, failure: storageFailure(error) });
    await updateUnmadeDiskDeleted(tx, diskId);
  });
}

async function record({ context, lease }: Change, made: MadeVolume): Promise<boolean> {
  return await writeWithLease(context, lease, async (tx) => {
    const disk = await updateVolumeMade(tx, made);
    if (!disk) return false;
    // The operation has failed at its deadline, so its end does not begin the metering.
    if (disk.kind === 'data' && !disk.has_operation)
      await openInterval(tx, {
        ...{ organizationId: disk.organization_id, projectId: disk.project_id },
        ...{ resourceId: made.diskId, region: disk.region },
        metered: { metric: 'gb_hours', diskType: disk.type, sizeGb: disk.size_gib },
      });
    return true;
  });
}
