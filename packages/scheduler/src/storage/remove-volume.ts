import { StorageError } from '@gantry/ceph/storage-error';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { removeUnusedPassphrase } from '@gantry/db/queries/storage/volume-passphrases';
import type { DiscardedVolume } from '@gantry/db/queries/storage/volume-work';
import { removeDiscardedVolume } from '@gantry/db/queries/storage/volumes';
import { writeWithLease } from './lease-writes.ts';
import type { VolumeContext } from './volume-context.ts';
import { storeOf } from './volume-store.ts';

/**
 * Removes the volume of a disk that does not exist any more. A volume without the labels of this installation stays: it
 * belongs to others, although it has the name of a disk of ours.
 */
export async function removeVolume(
  context: VolumeContext,
  { lease, volume }: { lease: Lease; volume: DiscardedVolume },
): Promise<void> {
  const { cluster_id, pool, disk_id: diskId } = volume;
  await context.clusters.use(cluster_id, async (cluster) => {
    const store = storeOf(cluster, volume);
    const found = await store.read(diskId);
    if (found && !isOurs(found.labels, volume))
      throw new StorageError('exists', `the volume ${pool}/${diskId} is not of this installation`);
    // Also if none was found: the creation of one may have been interrupted.
    await store.remove(diskId);
  });
  await writeWithLease(context, lease, async (tx) => {
    await removeDiscardedVolume(tx, diskId);
    await removeUnusedPassphrase(tx, diskId);
  });
}

function isOurs(
  labels: { installation: string; resource: string } | null,
  { cluster_id, disk_id }: DiscardedVolume,
): boolean {
  return labels?.installation === cluster_id && labels.resource === disk_id;
}
