import { chmod, mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import type { Log } from '@gantry/daemon/log';
import { GIB } from '@gantry/daemon/units';
import { HostFailure } from '../base/failure.ts';
import { createQueue } from '../base/queue.ts';
import type { Image } from '../spec.ts';
import { type CacheEntry, chooseEvictions } from './choose-evictions.ts';
import { downloadImage } from './download-image.ts';
import { type CachedImage, readImageFormat } from './image-format.ts';
import type { SourceLimits } from './image-source.ts';

/**
 * The images of a host, each a file named for its SHA-256, which disks share as what lies below
 * them. A file that has its name is whole and verified; what is still coming has another name, and
 * what a killed agent left of it goes when the next one opens the cache.
 *
 * An image is never evicted while it is in use: by a disk, as `listUsed` tells, or by work under way
 * here, which may be about to make such a disk. Looking one up and evicting wait for each other, and
 * who is at work is asked before the disks are: whoever ends in between has made its disk by then.
 */
export type ImageCache = {
  /** Also by many at once: an image that is not here is downloaded once. */
  fetch(image: Image): Promise<CachedImage>;
  /** Fetches, and keeps the image from eviction until the work is done. */
  use<T>(image: Image, work: (cached: CachedImage) => Promise<T>): Promise<T>;
};

export type ImageCacheOptions = {
  directory: string;
  /** What the images may take together. Those in use stay, even beyond it. */
  limitBytes: number;
  /** The SHA-256 of every image that a disk needs. */
  listUsed(): Promise<ReadonlySet<string>>;
  log: Pick<Log, 'info' | 'warn'>;
  /** What one image may take: an endless answer must not fill the host. */
  largestBytes?: number;
  limits?: Partial<SourceLimits>;
};

const SHA256 = /^[0-9a-f]{64}$/;
const UNFINISHED = /^[0-9a-f]{64}\.[0-9a-f]+\.new$/;
const LARGEST_BYTES = 64 * GIB;
/** Patient enough for a mirror at the other end of the world. */
const LIMITS: SourceLimits = { answerMs: 30_000, stallMs: 60_000, redirects: 5 };

export async function openImageCache(options: ImageCacheOptions): Promise<ImageCache> {
  const { directory, limitBytes, listUsed, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const largestBytes = options.largestBytes ?? LARGEST_BYTES;
  const users = new Map<string, number>();
  const downloads = new Map<string, Promise<CachedImage>>();
  const inTurn = createQueue();

  const lookUp = async (sha256: string): Promise<CachedImage | undefined> => {
    const path = join(directory, sha256);
    const format = await unlessMissing(readImageFormat(path));
    if (!format) return undefined;
    // Its time of change is that of its last use: many hosts do not keep when a file was read.
    const now = new Date();
    await utimes(path, now, now);
    return { ...format, path };
  };

  const evict = async (wantedBytes: number): Promise<void> => {
    const kept = new Set(users.keys());
    for (const sha256 of await listUsed()) kept.add(sha256);
    const limit = { limitBytes: limitBytes - wantedBytes, kept };
    for (const sha256 of chooseEvictions(await listEntries(directory), limit)) {
      await rm(join(directory, sha256), { force: true });
      log.info({ sha256 }, 'an image was evicted');
    }
  };
  /** A host that cannot tell what is used keeps everything. */
  const makeRoom = async (wantedBytes: number): Promise<void> => {
    try {
      await inTurn(() => evict(wantedBytes));
    } catch (error) {
      log.warn({ error }, 'no image could be evicted');
    }
  };

  const download = async (image: Image): Promise<CachedImage> => {
    const onSize = makeRoom;
    const cached = await downloadImage(image, { directory, limits, largestBytes, onSize });
    await makeRoom(0);
    return cached;
  };
  const downloadOnce = (image: Image): Promise<CachedImage> => {
    const running = downloads.get(image.sha256);
    if (running) return running;
    const started = download(image).finally(() => downloads.delete(image.sha256));
    downloads.set(image.sha256, started);
    return started;
  };

  const use = async <T>(image: Image, work: (cached: CachedImage) => Promise<T>): Promise<T> => {
    const { sha256 } = image;
    if (!SHA256.test(sha256)) {
      throw new HostFailure('image_unavailable', `the image ${image.name} has no SHA-256`);
    }
    users.set(sha256, (users.get(sha256) ?? 0) + 1);
    try {
      return await work((await inTurn(() => lookUp(sha256))) ?? (await downloadOnce(image)));
    } finally {
      const left = (users.get(sha256) ?? 1) - 1;
      if (left === 0) users.delete(sha256);
      else users.set(sha256, left);
    }
  };

  await prepareDirectory(directory);
  return { use, fetch: (image) => use(image, async (cached) => cached) };
}

/** Others may pass through it, as QEMU's user must, and not look around. */
async function prepareDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true });
  if (made !== undefined) await chmod(directory, 0o711);
  for (const name of await readdir(directory)) {
    if (UNFINISHED.test(name)) await rm(join(directory, name), { force: true });
  }
  await syncDirectory(directory);
}

async function listEntries(directory: string): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = [];
  for (const sha256 of await readdir(directory)) {
    if (!SHA256.test(sha256)) continue;
    const { size, mtimeMs } = await stat(join(directory, sha256));
    entries.push({ sha256, sizeBytes: size, lastUsedMs: mtimeMs });
  }
  return entries;
}
