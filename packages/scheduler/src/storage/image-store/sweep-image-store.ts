import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { listKnownImages } from '@gantry/db/queries/storage/image-work';
import type { ImageStore } from './image-store.ts';

type Sweep = { sql: Sql; log: Log; store: ImageStore; olderThanMs?: number };

/** Longer than any attempt takes. */
const OLD_MS = 86_400_000;

/**
 * Removes files that interrupted attempts have left. Content of an image that the database does not know is logged and kept:
 * the database may have been restored to an earlier state.
 */
export async function sweepImageStore({
  sql,
  log,
  store,
  olderThanMs = OLD_MS,
}: Sweep): Promise<void> {
  const imageIds = await store.list();
  const known = new Set(await listKnownImages(sql, imageIds));
  const unknown: string[] = [];
  for (const imageId of imageIds) {
    const hasContent = await store.removeLeftovers(imageId, olderThanMs);
    if (hasContent && !known.has(imageId)) unknown.push(imageId);
  }
  if (unknown.length === 0) return;
  const facts = { images: unknown.length, image_ids: unknown.slice(0, 5) };
  log.warn(facts, 'the image store has content of images that the database does not know');
}
