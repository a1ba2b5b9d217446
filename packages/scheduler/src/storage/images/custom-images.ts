/**
 * Makes and removes the images of projects in storage clusters. The rows are the desired state. Each step asks the
 * cluster first, which is idempotent, and then records the result in a transaction that checks the lease. So a scheduler
 * that is killed anywhere leaves a row that the next holder of the lease finds.
 */
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { IMAGE_SNAPSHOT } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import { GIB } from '@gantry/daemon/units';
import { imageView } from '@gantry/db/queries/images/image-view';
import { readOwnImage } from '@gantry/db/queries/images/project-images';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import {
  isImageKnown,
  removeCustomImage,
  removeImageRow,
  type UnsettledImage,
  updateImageFailed,
  updateImageReady,
} from '@gantry/db/queries/storage/image-work';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { labelsOf, writeWithLease } from '../lease-writes.ts';
import { isFinal, storageFailure } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';
import { importCustomImage, removeUpload } from './import-custom-image.ts';

type Step = { lease: Lease; image: UnsettledImage };

/** Images of projects are called by their id and never by their content, so that no two projects share one. */
export function imageVolumeName(imageId: string): string {
  return `image-${imageId}`;
}

export async function settleImage(context: VolumeContext, step: Step): Promise<void> {
  if (step.image.wanted === 'present') await makeImage(context, step);
  else await removeImage(context, step);
}

async function makeImage(context: VolumeContext, { lease, image }: Step): Promise<void> {
  const { id: imageId, pool, cluster_id } = image;
  try {
    if (image.source)
      await context.clusters.use(cluster_id, (cluster) => copyToImage(cluster, image));
    else await importCustomImage(context, image, imageVolumeName(imageId));
  } catch (error) {
    if (!isFinal(error)) throw error;
    context.log.warn({ error, image_id: imageId }, 'image not made');
    const failure = storageFailure(error);
    await writeWithLease(context, lease, async (tx) => {
      await updateImageFailed(tx, { imageId, problem: failure.message });
      await failOperation(tx, { resourceId: imageId, failure });
    });
    return;
  }
  await recordMade(context, { lease, image });
  await removeUpload(context, imageId);
  // To remove the volume of an image that does not exist is never wrong.
  if (!(await isImageKnown(context.sql, imageId)))
    await context.clusters.use(cluster_id, (cluster) =>
      cluster.removeVolume({ pool, name: imageVolumeName(imageId) }),
    );
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

/** Its metering begins when it can be used. An image that was deleted meanwhile is removed by a later step. */
async function recordMade(context: VolumeContext, { lease, image }: Step): Promise<void> {
  const imageId = image.id;
  await writeWithLease(context, lease, async (tx) => {
    const made = await updateImageReady(tx, imageId);
    if (!made) return;
    await openInterval(tx, {
      ...{ organizationId: made.organization_id, projectId: made.project_id },
      ...{ resourceId: imageId, region: made.region },
      metered: { metric: 'gb_hours', diskType: 'image', sizeGb: made.size_gib },
    });
    const row = await readOwnImage(tx, imageId);
    if (row) await succeedOperation(tx, { resourceId: imageId, result: imageView(row) });
  });
}

/**
 * Removes the row that VMs refer to, then the volume, then the row of the volume. The volumes of disks that are being
 * removed may still be clones of it: then the cluster keeps it in its trash.
 */
async function removeImage(context: VolumeContext, { lease, image }: Step): Promise<void> {
  const { id: imageId, pool, cluster_id } = image;
  const isUnused = await writeWithLease(context, lease, (tx) => removeImageRow(tx, imageId));
  if (!isUnused) return;
  const name = imageVolumeName(imageId);
  await context.clusters.use(cluster_id, async (cluster) => {
    const found = await cluster.readVolume({ pool, name });
    const { installation, resource } = labelsOf(image, name);
    const isOurs =
      found?.labels?.installation === installation && found.labels.resource === resource;
    if (found && !isOurs)
      throw new StorageError('exists', `the volume ${pool}/${name} is not of this installation`);
    // Also if none was found: the creation of one may have been interrupted.
    await cluster.removeVolume({ pool, name });
  });
  await removeUpload(context, imageId);
  await writeWithLease(context, lease, (tx) => removeCustomImage(tx, imageId));
}
