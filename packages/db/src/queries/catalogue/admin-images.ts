import type { Queryable } from '../../connect.ts';
import type { ImageRow } from './catalogue.ts';

/** Changes of the catalogue's images by operators. */

export type NewImage = Omit<ImageRow, 'retired' | 'locations'>;

export async function insertImage(sql: Queryable, image: NewImage): Promise<void> {
  await sql`insert into images (id, name, description, tags, source_url, sha256, created_at)
    values (${image.id}, ${image.name}, ${image.description}, ${image.tags}::text[],
      ${image.source_url}, ${image.sha256}, ${image.created_at})`;
}

export type ImageChange = {
  imageId: string;
  description: string | null;
  tags: string[] | null;
  retired: boolean | null;
};

/** Null leaves a column unchanged. Returns whether there is such an image. */
export async function updateImage(sql: Queryable, change: ImageChange): Promise<boolean> {
  const { count } = await sql`
    update images set description = coalesce(${change.description}::text, description),
      tags = coalesce(${change.tags}::text[], tags),
      retired = coalesce(${change.retired}::boolean, retired)
    where id = ${change.imageId} and project_id is null`;
  return count > 0;
}

/** Returns false if the image has another source already. */
export async function updateImageSource(
  sql: Queryable,
  image: { imageId: string; sourceUrl: string; sha256: string },
): Promise<boolean> {
  const { count } =
    await sql`update images set source_url = ${image.sourceUrl}, sha256 = ${image.sha256}
    where id = ${image.imageId} and project_id is null and (source_url = ''
      or source_url = ${image.sourceUrl} and sha256 = ${image.sha256})`;
  return count > 0;
}

/** From now on the image can be used in these locations and no others; VMs elsewhere keep it. */
export async function replaceImageLocations(
  sql: Queryable,
  { imageId, locations }: { imageId: string; locations: string[] },
): Promise<void> {
  await sql`delete from image_locations
    where image_id = ${imageId} and location <> all(${locations}::text[])`;
  await sql`insert into image_locations (image_id, location)
    select ${imageId}, location from unnest(${locations}::text[]) as wanted (location)
    on conflict do nothing`;
}

export async function isImageUsed(sql: Queryable, imageId: string): Promise<boolean> {
  const rows = await sql`select from vms where image_id = ${imageId} limit 1`;
  return rows.length > 0;
}

export async function removeImage(sql: Queryable, imageId: string): Promise<void> {
  await sql`delete from images where id = ${imageId}`;
}
