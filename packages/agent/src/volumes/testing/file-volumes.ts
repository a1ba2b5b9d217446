import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { createLog } from '@gantry/daemon/log';
import { type ImageCache, openImageCache } from '../../images/image-cache.ts';
import { listBackingImages } from '../backing-images.ts';
import { createVolumes } from '../create-volumes.ts';
import type { BlockDriver } from '../volume-driver.ts';

export type FileVolumes = {
  root: string;
  images: ImageCache;
  volumes: BlockDriver;
  inUse: Set<string>;
  /** Returns all files below the root, as relative paths. */
  list(): Promise<string[]>;
  remove(): Promise<void>;
};

const log = createLog({ process: 'test', level: 'silent' });

/** The disks of a host as in production, in a separate directory. */
export async function openFileVolumes(options: { root?: string; limitBytes?: number } = {}) {
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'gantry-volumes-')));
  const directory = join(root, 'disks');
  const inUse = new Set<string>();
  const images = await openImageCache({
    directory: join(root, 'images'),
    limitBytes: options.limitBytes ?? 2 ** 30,
    listUsed: () => listBackingImages(directory),
    log,
  });
  const opened: FileVolumes = {
    ...{ root, images, inUse },
    volumes: createVolumes({
      ...{ driver: 'file', directory, images, sharedDirectory: join(root, 'shared') },
      isInUse: async (diskId) => inUse.has(diskId),
    }),
    async list() {
      const names = await unlessMissing(readdir(root, { recursive: true, withFileTypes: true }));
      return (names ?? [])
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .sort();
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
  return opened;
}
