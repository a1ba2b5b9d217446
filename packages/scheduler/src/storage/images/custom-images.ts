import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { IMAGE_SNAPSHOT } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import { GIB } from '@gantry/daemon/units';
import type { UnsettledImage } from '@gantry/db/queries/storage/image-work';
import { labelsOf } from '../lease-writes.ts';
import type { VolumeContext } from '../volume-context.ts';
import { importCustomImage } from './import-custom-image.ts';
import type { ImagePlace } from './settle-image.ts';

/** Images of projects are called by their id and never by their content, so that no two projects share one. */
export function imageVolumeName(imageId: string): string {
  return `image-${imageId}`;
}

/** The volume of an image of a project in a storage cluster. */
export function imageVolume(context: VolumeContext, image: UnsettledImage): ImagePlace {
  const { cluster_id } = image;
  const name = imageVolumeName(image.id);
  return {
    async make() {
      if (image.source)
        await context.clusters.use(cluster_id, (cluster) => copyToImage(cluster, image));
      else await importCustomImage(context, image, name);
      return null;
    },
    remove: () => context.clusters.use(cluster_id, (cluster) => removeVolume(cluster, image)),
  };
}

/** A copy, because a host that opens a clone of the image can read its parent, and disks are secret. */
async function copyToImage(cluster: StorageCluster, image: UnsettledImage): Promise<void> {
  const { pool, source } = image;
  const name = imageVolumeName(image.id);
  if (!source?.disk_id)
    throw new StorageError('not_found', 'the snapshot of the image was deleted');
  await cluster.copySnapshot({
    from: { pool, name: source.disk_id, snapshot: source.snapshot_id },
    to: { pool, name, sizeBytes: image.size_gib * GIB, labels: labelsOf(image, name) },
  });
  await cluster.createSnapshot({ pool, name, snapshot: IMAGE_SNAPSHOT });
}

/** The volumes of disks that are being removed may still be clones of it: then the cluster keeps it in its trash. */
async function removeVolume(cluster: StorageCluster, image: UnsettledImage): Promise<void> {
  const { pool } = image;
  const name = imageVolumeName(image.id);
  const found = await cluster.readVolume({ pool, name });
  const { installation, resource } = labelsOf(image, name);
  const isOurs = found?.labels?.installation === installation && found.labels.resource === resource;
  if (found && !isOurs)
    throw new StorageError('exists', `the volume ${pool}/${name} is not of this installation`);
  // Also if none was found: the creation of one may have been interrupted.
  await cluster.removeVolume({ pool, name });
}
