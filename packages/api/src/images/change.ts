import type { Queryable } from '@gantry/db/connect';
import {
  insertImage,
  isImageUsed,
  removeImage,
  replaceImageLocations,
  updateImage,
  updateImageSource,
} from '@gantry/db/queries/catalogue/admin-images';
import { type ImageRow, listImages } from '@gantry/db/queries/catalogue/catalogue';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireLocations } from '../catalogue/change-locations.ts';
import type { ChangeImage, CreateImage } from './schema.ts';

type Creation = { sql: Queryable; body: z.output<typeof CreateImage>; now: Date };

export async function createImage({ sql, body, now }: Creation): Promise<ImageRow> {
  const { locations, ...rest } = body;
  await requireLocations(sql, locations);
  const id = newId(now.getTime());
  await insertImage(sql, {
    ...rest,
    id,
    created_at: now,
    source_url: body.source_url ?? '',
    sha256: body.sha256 ?? '',
  });
  await replaceImageLocations(sql, { imageId: id, locations });
  return await requireImage(sql, id);
}

type Change = { sql: Queryable; imageId: string; body: z.output<typeof ChangeImage> };

/**
 * Changes an image. Its source can be set once and not be changed, because hosts cache the image by
 * its hash and VMs were created from it.
 */
export async function changeImage({ sql, imageId, body }: Change): Promise<ImageRow> {
  const { locations, source_url: sourceUrl, sha256 } = body;
  const found = await updateImage(sql, {
    imageId,
    description: body.description ?? null,
    tags: body.tags ?? null,
    retired: body.retired ?? null,
  });
  if (!found) throw notFound('image');
  if (sourceUrl !== undefined && sha256 !== undefined) {
    if (!(await updateImageSource(sql, { imageId, sourceUrl, sha256 })))
      throw new CloudError(
        'conflict',
        'source_url and sha256 of an image cannot be changed: create a new image instead',
      );
  }
  if (locations) {
    await requireLocations(sql, locations);
    await replaceImageLocations(sql, { imageId, locations });
  }
  return await requireImage(sql, imageId);
}

/** If a VM is created from the image at the same time, its foreign key makes the deletion fail. */
export async function deleteImage(sql: Queryable, imageId: string): Promise<ImageRow> {
  const image = await requireImage(sql, imageId);
  if (await isImageUsed(sql, imageId)) {
    throw new CloudError('conflict', 'VMs were created from this image: retire it instead');
  }
  await removeImage(sql, imageId);
  return image;
}

async function requireImage(sql: Queryable, imageId: string): Promise<ImageRow> {
  const image = (await listImages(sql, { retired: true })).find(({ id }) => id === imageId);
  if (!image) throw notFound('image');
  return image;
}
