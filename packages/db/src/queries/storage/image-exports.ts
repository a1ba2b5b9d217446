import type { Queryable } from '../../connect.ts';
import type { StoredContent } from './image-work.ts';

/**
 * Content of images between hosts and schedulers. A host sends the content of a snapshot that it stores, by an order of its
 * spec, and fetches the content of an image that a VM of its spec names. Nothing else may pass.
 */

export type SpecExportRow = { image_id: string; snapshot_id: string };

/** The image `c` is to be made of a snapshot that a host has not sent yet. */
const isExport = (sql: Queryable) =>
  sql`c.host_id is not null and c.desired_state = 'present' and c.observed_state = 'none'`;

/** The images whose content the host of `r` has to send, as JSON of `SpecExportRow`s. */
export const exportsJson = (
  sql: Queryable,
) => sql`(select coalesce(json_agg(json_build_object('image_id', c.id, 'snapshot_id', c.source_snapshot_id)
      order by c.id), '[]') from custom_images c where c.host_id = r.host_id and ${isExport(sql)})`;

export type SpecImageRow = {
  id: string;
  name: string;
  url: string;
  sha256: string;
  /** What the image store has of it; null: it is at the URL, or in a pool. */
  stored_sha256: string | null;
};

/** The image `i` as JSON of a `SpecImageRow`. */
export const imageJson = (
  sql: Queryable,
) => sql`json_build_object('id', i.id, 'name', i.name, 'url', i.source_url, 'sha256', i.sha256,
    'stored_sha256', (select c.content_sha256 from custom_images c where c.id = i.id and c.pool_id is null))`;

type ExportKey = { hostId: string; imageId: string };
export type ImageExport = { size_gib: number };

/** Locks an image whose content this host has to send. Returns undefined if it has not, or not any more. */
export async function lockExport(
  sql: Queryable,
  { hostId, imageId }: ExportKey,
): Promise<ImageExport | undefined> {
  const [row] = await sql<ImageExport[]>`select c.size_gib from custom_images c
    where c.id = ${imageId} and c.host_id = ${hostId} and ${isExport(sql)} for update`;
  return row;
}

/** The same without a lock, for the time of the transfer. */
export async function readExport(
  sql: Queryable,
  { hostId, imageId }: ExportKey,
): Promise<ImageExport | undefined> {
  const [row] = await sql<ImageExport[]>`select c.size_gib from custom_images c
    where c.id = ${imageId} and c.host_id = ${hostId} and ${isExport(sql)}`;
  return row;
}

/** The content is in the image store, where the holder of the lease makes the image of it. The caller has locked the image. */
export async function updateExported(sql: Queryable, imageId: string): Promise<void> {
  await sql`update custom_images set host_id = null, problem = '', updated_at = now() where id = ${imageId}`;
}

/** The host that has to send the content of the image `c` is gone. */
export const isLostExport = (sql: Queryable) => sql`${isExport(sql)}
  and not exists (select from hosts h where h.id = c.host_id and h.state <> 'fenced')`;

/** Locks images whose content no host will send, unless another process has locked them. */
export async function lockLostExports(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<
    { id: string }[]
  >`select c.id from custom_images c where ${isLostExport(sql)}
    order by c.id limit ${limit} for update skip locked`;
  return rows.map(({ id }) => id);
}

/**
 * Returns what the image store has of an image that a VM of this host is to be created from. Returns undefined if the spec
 * of the host does not name the image. An image that was deleted meanwhile is kept for such a VM.
 */
export async function readFetchable(
  sql: Queryable,
  { hostId, imageId }: ExportKey,
): Promise<StoredContent | undefined> {
  const [row] = await sql<StoredContent[]>`
    select c.content_sha256 as sha256, c.content_bytes::float8 as bytes from custom_images c
    where c.id = ${imageId} and c.pool_id is null and c.observed_state = 'ready' and exists (
      select from placements p join vms v on v.id = p.vm_id
        join disk_attachments a on a.vm_id = v.id and a.attachment_type = 'os' join disks d on d.id = a.disk_id
      where p.host_id = ${hostId} and v.image_id = c.id and d.host_id is null and not v.relocating
        and vm_should_run(v.desired_state, v.abandoned, v.observed_state, v.observed_generation, v.generation))`;
  return row;
}
