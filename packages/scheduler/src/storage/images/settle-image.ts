/**
 * Makes and removes the images of projects, wherever they are stored. The rows are the desired state. Each step changes the
 * place first, which is idempotent, and then records the result in a transaction that checks the lease. So a scheduler that
 * is killed anywhere leaves a row that the next holder of the lease finds.
 */
import { imageView } from '@gantry/db/queries/images/image-view';
import { readOwnImage } from '@gantry/db/queries/images/project-images';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { failOperation, succeedOperation } from '@gantry/db/queries/settle/end-operation';
import {
  type ImageWork,
  isImageKnown,
  removeCustomImage,
  removeImageRow,
  type StoredContent,
  updateImageFailed,
  updateImageReady,
} from '@gantry/db/queries/storage/image-work';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { writeWithLease } from '../lease-writes.ts';
import { isFinal, storageFailure } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';
import { removeUpload } from './import-custom-image.ts';

export type ImageContext = Pick<VolumeContext, 'sql' | 'log' | 'imports'>;

/** Where an image is stored. To repeat a call that succeeded, or that may have succeeded, is no error. */
export type ImagePlace = {
  /** Returns what the image store has; null: the image is in a cluster. */
  make(): Promise<StoredContent | null>;
  /** Removes what was needed only to make it. */
  tidy?(): Promise<void>;
  /** Removes everything of the image, also of an interrupted attempt to make it. */
  remove(): Promise<void>;
};

type Step = { lease: Lease; image: ImageWork; place: ImagePlace };

export async function settleImage(context: ImageContext, step: Step): Promise<void> {
  if (step.image.wanted === 'present') await makeImage(context, step);
  else await removeImage(context, step);
}

async function makeImage(context: ImageContext, { lease, image, place }: Step): Promise<void> {
  const imageId = image.id;
  let content: StoredContent | null;
  try {
    content = await place.make();
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
  await recordMade(context, { lease, imageId, content });
  await removeUpload(context, imageId);
  await place.tidy?.();
  // To remove the content of an image that does not exist is never wrong.
  if (!(await isImageKnown(context.sql, imageId))) await place.remove();
}

type Made = { lease: Lease; imageId: string; content: StoredContent | null };

/** Its metering begins when it can be used. An image that was deleted meanwhile is removed by a later step. */
async function recordMade(context: ImageContext, { lease, imageId, content }: Made): Promise<void> {
  await writeWithLease(context, lease, async (tx) => {
    const made = await updateImageReady(tx, { imageId, content });
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

/** Removes the row that VMs refer to, then the content, then the row of the content. */
async function removeImage(context: ImageContext, { lease, image, place }: Step): Promise<void> {
  const imageId = image.id;
  const isUnused = await writeWithLease(context, lease, (tx) => removeImageRow(tx, imageId));
  if (!isUnused) return;
  await place.remove();
  await removeUpload(context, imageId);
  await writeWithLease(context, lease, (tx) => removeCustomImage(tx, imageId));
}
