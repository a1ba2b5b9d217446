import type { ImageFormat } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { isUnsettledImage, type VolumePlace, type WorkSelection } from './volume-work.ts';

/**
 * What the holder of a location's lease has to do for images of projects, in a storage cluster or in the image store, and
 * how it records the result.
 */

export type ImageWork = {
  id: string;
  wanted: 'present' | 'deleted';
  size_gib: number;
  format: ImageFormat;
  /** Empty if it is made from a snapshot or from an upload. */
  url: string;
  sha256: string;
};

export type UnsettledImage = ImageWork &
  VolumePlace & {
    /** The snapshot that it is copied from; its `disk_id` is null if it was deleted. */
    source: { snapshot_id: string; disk_id: string | null } | null;
  };

/** An import waits for a server of the tenant for up to an hour, so no organization may use all places of a cluster. */
const MOST_IMPORTS_OF_ORGANIZATION = 2;

/** Lists the oldest of each organization, then the second of each, and so on. Those that are busy are the first. */
export async function listUnsettledImages(
  sql: Queryable,
  { location, limit, notIds, notClusters }: WorkSelection,
): Promise<UnsettledImage[]> {
  const busy = sql`any(${[...notIds]}::uuid[])`;
  return await sql<UnsettledImage[]>`
    select c.id, c.desired_state as wanted, c.size_gib, c.format, c.source_url as url, c.sha256, p.cluster_id, p.id as pool_id,
      p.name as pool, case when c.source_snapshot_id is not null then json_build_object('snapshot_id', c.source_snapshot_id,
        'disk_id', (select s.disk_id from snapshots s where s.id = c.source_snapshot_id)) end as source
    from (select c.id, row_number() over (partition by j.organization_id, p.cluster_id, c.desired_state,
          c.source_snapshot_id is null order by c.id = ${busy} desc, c.id) as turn
        from custom_images c join storage_pools p on p.id = c.pool_id join projects j on j.id = c.project_id
        where c.location = ${location} and ${isUnsettledImage(sql)}
          and p.cluster_id <> all(${[...notClusters]}::uuid[])) w
      join custom_images c on c.id = w.id join storage_pools p on p.id = c.pool_id
    where not c.id = ${busy} and (w.turn <= ${MOST_IMPORTS_OF_ORGANIZATION} or c.desired_state = 'deleted'
      or c.source_snapshot_id is not null)
    order by w.turn, c.id limit ${limit}`;
}

export type StoredImage = ImageWork & {
  /** Whether the file was sent by the host of a snapshot. */
  is_sent: boolean;
};

/** The same for the image store. An image waits until the host of its snapshot has sent the content. */
export async function listUnsettledStoredImages(
  sql: Queryable,
  { location, limit, notIds }: Omit<WorkSelection, 'notClusters'>,
): Promise<StoredImage[]> {
  const busy = sql`any(${[...notIds]}::uuid[])`;
  return await sql<StoredImage[]>`
    select c.id, c.desired_state as wanted, c.size_gib, c.format, c.source_url as url, c.sha256,
      c.source_snapshot_id is not null as is_sent
    from (select c.id, row_number() over (partition by j.organization_id, c.desired_state, c.source_snapshot_id is null
          order by c.id = ${busy} desc, c.id) as turn
        from custom_images c join projects j on j.id = c.project_id
        where c.location = ${location} and ${isUnsettledStoredImage(sql)}) w
      join custom_images c on c.id = w.id
    where not c.id = ${busy} and (w.turn <= ${MOST_IMPORTS_OF_ORGANIZATION} or c.desired_state = 'deleted'
      or c.source_snapshot_id is not null)
    order by w.turn, c.id limit ${limit}`;
}

const isUnsettledStoredImage = (sql: Queryable) =>
  sql`c.pool_id is null and (c.host_id is null or c.desired_state = 'deleted') and ${isUnsettledImage(sql)}`;

/** Whether the image store has work in the locations, as part of a statement over small indexes. */
export const hasImageWork = (sql: Queryable, locations: readonly string[]) =>
  sql`exists (select from custom_images c where c.location = any(${[...locations]}::text[])
    and ${isUnsettledStoredImage(sql)})`;

/** What the image store has of an image. */
export type StoredContent = { sha256: string; bytes: number };

/** The ids of those of the given images that have a row. */
export async function listKnownImages(
  sql: Queryable,
  imageIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from custom_images where id = any(${[...imageIds]}::uuid[])`;
  return rows.map(({ id }) => id);
}

export type SettledImage = {
  project_id: string;
  organization_id: string;
  region: string;
  size_gib: number;
};

/**
 * Records that the cluster or the image store has the image; `content` is that of the store. Returns undefined if it is
 * not wanted any more.
 */
export async function updateImageReady(
  sql: Queryable,
  { imageId, content }: { imageId: string; content: StoredContent | null },
): Promise<SettledImage | undefined> {
  const [row] = await sql<SettledImage[]>`
    update custom_images c set observed_state = 'ready', problem = '', updated_at = now(),
      content_sha256 = ${content?.sha256 ?? ''}, content_bytes = ${content?.bytes ?? null}
    from projects j, locations l where c.id = ${imageId} and c.desired_state = 'present'
      and c.observed_state = 'none' and j.id = c.project_id and l.name = c.location
    returning c.project_id, j.organization_id, l.region, c.size_gib`;
  return row;
}

/** The image was never made. Its tenant deletes it, which removes what the cluster or the image store may have of it. */
export async function updateImageFailed(
  sql: Queryable,
  { imageId, problem }: { imageId: string; problem: string },
): Promise<void> {
  await sql`update custom_images set observed_state = 'failed', problem = ${problem}, host_id = null, updated_at = now()
    where id = ${imageId} and desired_state = 'present' and observed_state = 'none'`;
}

/** Returns why the last attempt failed; null if the image is gone. */
export async function readImageProblem(sql: Queryable, imageId: string): Promise<string | null> {
  const [row] = await sql<{ problem: string }[]>`
    select problem from custom_images where id = ${imageId}`;
  return row?.problem ?? null;
}

/** Why the last attempt failed; there will be another one. */
export async function updateImageProblem(
  sql: Queryable,
  { imageId, problem }: { imageId: string; problem: string },
): Promise<void> {
  await sql`update custom_images set problem = ${problem} where id = ${imageId} and problem <> ${problem}`;
}

export async function isImageKnown(sql: Queryable, imageId: string): Promise<boolean> {
  const rows = await sql`select from custom_images where id = ${imageId}`;
  return rows.length > 0;
}

/**
 * Removes the row that VMs refer to, so that none can be created with the image any more. Returns false if a VM has the
 * image. The lock waits for requests that create a VM with it.
 */
export async function removeImageRow(sql: Queryable, imageId: string): Promise<boolean> {
  await sql`select from images where id = ${imageId} for update`;
  const vms = await sql`select from vms where image_id = ${imageId} limit 1`;
  if (vms.length > 0) return false;
  await sql`delete from images where id = ${imageId} and retired`;
  return true;
}

/** Nothing of it is left in the cluster or in the image store. */
export async function removeCustomImage(sql: Queryable, imageId: string): Promise<void> {
  await sql`delete from custom_images where id = ${imageId} and desired_state = 'deleted'`;
}
