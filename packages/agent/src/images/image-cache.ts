import { chmod, chown, link, mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import { type ImageSource, openImageSource, type SourceLimits } from '@gantry/daemon/image-source';
import type { Log } from '@gantry/daemon/log';
import { GIB } from '@gantry/daemon/units';
import { HostFailure } from '../base/failure.ts';
import { createQueue } from '../base/queue.ts';
import type { ImageTransfers } from '../link/image-transfers.ts';
import type { Image } from '../spec.ts';
import { type CacheEntry, chooseEvictions } from './choose-evictions.ts';
import { downloadImage } from './download-image.ts';
import { IMAGE_SUFFIX, imageFile, imageOfFile } from './image-file.ts';
import { type CachedImage, readImageFormat } from './image-format.ts';

/**
 * The images of a host. Each is a file that is named after its SHA-256, with a suffix that stock AppArmor
 * profiles let libvirt read, and disks use it as their shared backing file. A file with that name is
 * complete and verified. A download in progress has another name, and opening the cache removes what a
 * killed agent left.
 *
 * An image is never evicted while it is in use, either by a disk (`listUsed`) or by work in
 * progress here, which may be about to create such a disk. Lookups and evictions are serialised. An
 * eviction reads the work in progress before it reads the disks, so that work that ends in between
 * has created its disk by then.
 */
export type ImageCache = {
  /** Returns the image's path. Concurrent calls share one download. */
  fetch(image: Image): Promise<CachedImage>;
  /** Fetches the image and protects it from eviction until the work is done. */
  use<T>(image: Image, work: (cached: CachedImage) => Promise<T>): Promise<T>;
};

export type ImageCacheOptions = {
  directory: string;
  /** The size limit for all images together. Images in use stay even above the limit. */
  limitBytes: number;
  /** Returns the SHA-256 of every image that a disk needs. */
  listUsed(): Promise<ReadonlySet<string>>;
  log: Pick<Log, 'info' | 'warn'>;
  /** Opens images that schedulers send. Absent: there are none. */
  openStored?: ImageTransfers['open'] | undefined;
  /** The size limit for one image: an endless download must not fill the host. */
  largestBytes?: number;
  limits?: Partial<SourceLimits>;
};

const SHA256 = /^[0-9a-f]{64}$/;
const UNFINISHED = /^[0-9a-f]{64}(\.img)?\.[0-9a-f]+\.new$/;
const LARGEST_BYTES = 64 * GIB;
/** An image of a project has the size of an OS disk at most, and what its format adds. */
const LARGEST_STORED_BYTES = 130 * GIB;
/** Long enough for a distant mirror. */
const LIMITS: SourceLimits = { replyMs: 30_000, stallMs: 60_000, redirects: 5 };

export async function openImageCache(options: ImageCacheOptions): Promise<ImageCache> {
  const { directory, limitBytes, listUsed, log, openStored } = options;
  const limits = { ...LIMITS, ...options.limits };
  const largestBytes = options.largestBytes ?? LARGEST_BYTES;
  const users = new Map<string, number>();
  const downloads = new Map<string, Promise<CachedImage>>();
  const enqueue = createQueue();

  const lookUp = async (sha256: string): Promise<CachedImage | undefined> => {
    const path = imageFile(directory, sha256);
    const format = await unlessMissing(readImageFormat(path));
    if (!format) return undefined;
    // The modification time is the time of the last use, because many hosts do not record access
    // times.
    const now = new Date();
    await utimes(path, now, now);
    return { ...format, path };
  };

  const evict = async (wantedBytes: number): Promise<void> => {
    const kept = new Set(users.keys());
    for (const sha256 of await listUsed()) kept.add(sha256);
    const limit = { limitBytes: limitBytes - wantedBytes, kept };
    for (const sha256 of chooseEvictions(await listEntries(directory), limit)) {
      // The second is the name of an earlier version.
      for (const path of [imageFile(directory, sha256), join(directory, sha256)])
        await rm(path, { force: true });
      log.info({ sha256 }, 'image evicted');
    }
  };
  /** If the images in use cannot be determined, nothing is evicted. */
  const makeRoom = async (wantedBytes: number): Promise<void> => {
    try {
      await enqueue(() => evict(wantedBytes));
    } catch (error) {
      log.warn({ error }, 'images could not be evicted');
    }
  };

  const openSource = async ({ id, url }: Image): Promise<ImageSource> => {
    if (id === '') return await openImageSource(new URL(url), limits);
    if (openStored) return await openStored(id);
    throw new Error('this agent cannot fetch images from schedulers');
  };
  const download = async (image: Image): Promise<CachedImage> => {
    const onSize = makeRoom;
    const open = () => openSource(image);
    const cached = await downloadImage(image, {
      ...{ directory, open, onSize },
      largestBytes: image.id === '' ? largestBytes : LARGEST_STORED_BYTES,
    });
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
      return await work((await enqueue(() => lookUp(sha256))) ?? (await downloadOnce(image)));
    } finally {
      const left = (users.get(sha256) ?? 1) - 1;
      if (left === 0) users.delete(sha256);
      else users.set(sha256, left);
    }
  };

  await prepareDirectory(directory);
  return { use, fetch: (image) => use(image, async (cached) => cached) };
}

/** QEMU's user may pass through the directory but not list it. */
async function prepareDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true });
  if (made !== undefined) await chmod(directory, 0o711);
  for (const name of await readdir(directory)) {
    if (UNFINISHED.test(name)) await rm(join(directory, name), { force: true });
    if (SHA256.test(name)) await addSuffix(directory, name);
    if (SHA256.test(imageOfFile(name))) await takeBack(join(directory, name));
  }
  await syncDirectory(directory);
}

/** An earlier version let libvirt give the image to the user of QEMU. */
async function takeBack(path: string): Promise<void> {
  const uid = process.getuid?.() ?? 0;
  const { uid: owner, gid } = await stat(path);
  if (owner !== uid) await chown(path, uid, gid);
}

/** An earlier version used no suffix. Its disks name that file, so it gets a second name. */
async function addSuffix(directory: string, sha256: string): Promise<void> {
  const path = imageFile(directory, sha256);
  if (!(await unlessMissing(stat(path)))) await link(join(directory, sha256), path);
}

async function listEntries(directory: string): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = [];
  for (const name of await readdir(directory)) {
    const sha256 = name.replace(IMAGE_SUFFIX, '');
    if (name === sha256 || !SHA256.test(sha256)) continue;
    const { size, mtimeMs } = await stat(join(directory, name));
    entries.push({ sha256, sizeBytes: size, lastUsedMs: mtimeMs });
  }
  return entries;
}
