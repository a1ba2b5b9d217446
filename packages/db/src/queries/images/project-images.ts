import type { ImageFormat, ImageState, ImageVisibility } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { Listing } from '../listing.ts';
import { inPage, pageOrder } from '../page-bounds.ts';

/** The images that a project can use: those of the catalogue, its own, and those that its organization shares. */

export type ProjectImageRow = {
  id: string;
  name: string;
  description: string;
  tags: string[];
  created_at: Date;
  locations: string[];
  /** Null: it is an image of the catalogue. */
  project_id: string | null;
  visibility: ImageVisibility;
  state: ImageState;
  /** Null: it is an image of the catalogue, whose size is not recorded. */
  size_gib: number | null;
  problem: string;
};

type ImageKey = { projectId: string; imageId: string };

/** The image `i`, whose row of `custom_images` is `c` if it has one, is visible in the project. */
export const isVisible = (
  sql: Queryable,
  projectId: string,
) => sql`not i.retired and (i.project_id is null
  or i.project_id = ${projectId} or c.visibility = 'organization' and (select organization_id from projects where id = i.project_id)
    = (select organization_id from projects where id = ${projectId}))`;

/** The image `i` can be used for new VMs. */
const isUsable = (sql: Queryable) => sql`(c.id is null or c.state = 'ready')`;

const select = (sql: Queryable) => sql`
  select i.id, i.name, i.description, i.tags, i.created_at, i.project_id,
    array(select location from image_locations where image_id = i.id order by location) as locations,
    coalesce(c.visibility, 'public') as visibility, coalesce(c.state, 'ready') as state, c.size_gib,
    coalesce(c.problem, '') as problem
  from images i left join custom_images c on c.id = i.id`;

export async function listProjectImages(
  sql: Queryable,
  listing: Omit<Listing, 'tags'>,
): Promise<ProjectImageRow[]> {
  const { projectId, ids, names, limit } = listing;
  return await sql<ProjectImageRow[]>`
    ${select(sql)} where ${isVisible(sql, projectId)} and ${inPage(sql, listing, sql`i.`)}
      ${ids === null ? sql`` : sql`and i.id = any(${ids}::uuid[])`}
      ${names === null ? sql`` : sql`and i.name = any(${names}::text[])`}
    order by ${pageOrder(sql, listing, sql`i.`)} ${limit === null ? sql`` : sql`limit ${limit}`}`;
}

export async function readProjectImage(
  sql: Queryable,
  { projectId, imageId }: ImageKey,
): Promise<ProjectImageRow | undefined> {
  const [row] = await sql<ProjectImageRow[]>`
    ${select(sql)} where ${isVisible(sql, projectId)} and i.id = ${imageId}`;
  return row;
}

/** Also returns one that was deleted, as long as its row exists. */
export async function readOwnImage(
  sql: Queryable,
  imageId: string,
): Promise<ProjectImageRow | undefined> {
  const [row] = await sql<ProjectImageRow[]>`${select(sql)} where i.id = ${imageId}`;
  return row;
}

/**
 * Selects the id of the image that a request for a VM names, by its id or its name. If several have the name, the
 * catalogue is first, so that no tenant can replace an image of the operators, and the project's own image is before
 * those of other projects, so that none of these can replace it.
 */
export function selectNamedImage(
  sql: Queryable,
  { projectId, image, location }: { projectId: string; image: string; location: string },
) {
  return sql`select i.id from images i left join custom_images c on c.id = i.id
      join image_locations il on il.image_id = i.id and il.location = ${location}
    where ${isNamed(sql, image)} and ${isVisible(sql, projectId)} and ${isUsable(sql)}
    order by ${byRank(sql, { projectId, image })} limit 1`;
}

/** Returns the image that a request names, also if it is in another location or cannot be used yet. */
export async function readNamedImage(
  sql: Queryable,
  { projectId, image }: { projectId: string; image: string },
): Promise<ProjectImageRow | undefined> {
  const [row] = await sql<ProjectImageRow[]>`${select(sql)}
    where ${isNamed(sql, image)} and ${isVisible(sql, projectId)}
    order by ${byRank(sql, { projectId, image })} limit 1`;
  return row;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const idOf = (image: string) => (UUID.test(image) ? image : null);

const isNamed = (sql: Queryable, image: string) =>
  sql`(i.name = ${image} or i.id = ${idOf(image)}::uuid)`;

const byRank = (sql: Queryable, { projectId, image }: { projectId: string; image: string }) =>
  sql`i.id = ${idOf(image)}::uuid desc nulls last, i.project_id is not null, i.project_id is distinct from ${projectId}, i.id`;

/** Returns whether the catalogue has an image of this name that is not retired. */
export async function isCatalogueName(sql: Queryable, name: string): Promise<boolean> {
  const rows =
    await sql`select from images where name = ${name} and project_id is null and not retired`;
  return rows.length > 0;
}

/** Locks an image of the project until the transaction ends and returns it. */
export async function lockProjectImage(
  sql: Queryable,
  { projectId, imageId }: ImageKey,
): Promise<ProjectImageRow | undefined> {
  await sql`select from custom_images where project_id = ${projectId} and id = ${imageId} for update`;
  const row = await readProjectImage(sql, { projectId, imageId });
  return row?.project_id === projectId ? row : undefined;
}

export type NewProjectImage = {
  id: string;
  projectId: string;
  name: string;
  description: string;
  tags: string[];
  visibility: Exclude<ImageVisibility, 'public'>;
  /** Null: the image store has it. */
  poolId: string | null;
  location: string;
  sizeGib: number;
  source:
    | {
        snapshotId: string /** The host that has to send its content; absent: none. */;
        hostId?: string | null;
      }
    | { url: string; sha256: string; format: ImageFormat }
    | { fileBytes: number; sha256: string; format: ImageFormat };
  at: Date;
};

export async function insertProjectImage(sql: Queryable, image: NewProjectImage): Promise<void> {
  const { id, projectId, source, at, location } = image;
  await sql`insert into images (id, project_id, name, description, tags, created_at)
    values (${id}, ${projectId}, ${image.name}, ${image.description}, ${image.tags}::text[], ${at})`;
  await sql`insert into image_locations (image_id, location) values (${id}, ${location})`;
  const file = 'snapshotId' in source ? undefined : source;
  await sql`insert into custom_images (id, project_id, pool_id, location, visibility, size_gib, source_snapshot_id,
      source_url, format, sha256, file_bytes, uploaded, host_id, created_at, updated_at)
    values (${id}, ${projectId}, ${image.poolId}, ${location}, ${image.visibility}, ${image.sizeGib},
      ${'snapshotId' in source ? source.snapshotId : null}, ${'url' in source ? source.url : ''},
      ${file?.format ?? 'raw'}, ${file?.sha256 ?? ''}, ${'fileBytes' in source ? source.fileBytes : null},
      ${!('fileBytes' in source)}, ${'snapshotId' in source ? (source.hostId ?? null) : null}, ${at}, ${at})`;
}

/** From now on the image does not exist for tenants. VMs that have it keep it. */
export async function updateImageDeleted(sql: Queryable, imageId: string): Promise<void> {
  await sql`update custom_images set desired_state = 'deleted', updated_at = now() where id = ${imageId}`;
  await sql`update images set retired = true where id = ${imageId}`;
}

/** Returns the size of the file that is uploaded; null if none is. */
export async function readFileBytes(sql: Queryable, imageId: string): Promise<number | null> {
  const [row] = await sql<{ bytes: number | null }[]>`
    select file_bytes::float8 as bytes from custom_images where id = ${imageId}`;
  return row?.bytes ?? null;
}

/** The whole file was received: a scheduler imports it. */
export async function updateImageUploaded(sql: Queryable, imageId: string): Promise<void> {
  await sql`update custom_images set uploaded = true, updated_at = now() where id = ${imageId}`;
}

export async function updateProjectImage(
  sql: Queryable,
  change: {
    imageId: string;
    description: string | null;
    tags: string[] | null;
    visibility: string | null;
  },
): Promise<void> {
  const { imageId, description, tags, visibility } = change;
  await sql`update images set description = coalesce(${description}::text, description),
      tags = coalesce(${tags}::text[], tags) where id = ${imageId}`;
  await sql`update custom_images set visibility = coalesce(${visibility}::text, visibility), updated_at = now()
    where id = ${imageId}`;
}

/** Returns the pool in which an image of a location is stored; null if the location has no network storage. */
export async function choosePool(
  sql: Queryable,
  { location, sizeGib }: { location: string; sizeGib: number },
): Promise<string | null> {
  const [row] = await sql<{ pool_id: string | null }[]>`
    select choose_pool(${location}, 'persistent-ssd', ${sizeGib}::int) as pool_id`;
  return row?.pool_id ?? null;
}
