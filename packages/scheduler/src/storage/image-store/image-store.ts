import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncDirectory, syncFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { StoredContent } from '@gantry/db/queries/storage/image-work';

/**
 * The content of images of projects in locations without network storage, in a directory that all schedulers share:
 *
 *   <image id>/<sha256>.qcow2   the content, complete and verified; the database has its SHA-256
 *   <image id>/sent             what the host of a snapshot has sent, raw and complete
 *   <image id>/<random>.new     a file that is being written, or that an interrupted attempt has left
 *
 * Each attempt writes a file of its own, and content is called by its hash. So a scheduler that lost its lease and goes on
 * writing replaces nothing that a VM needs.
 */
export type ImageStore = {
  /** Returns the path of a new file for an attempt. */
  prepare(imageId: string): Promise<string>;
  /** Makes the file of an attempt the content of the image. It is on disk when this returns. */
  publish(imageId: string, file: string): Promise<StoredContent>;
  /** Makes the file of an attempt what the host has sent, in place of what it sent before. */
  keepSent(imageId: string, file: string): Promise<void>;
  sentFile(imageId: string): string;
  /** Removes what the host has sent. */
  removeSent(imageId: string): Promise<void>;
  /** Removes the file of an attempt. */
  discard(file: string): Promise<void>;
  /** Opens the content for reading. */
  open(imageId: string, sha256: string): Promise<FileHandle>;
  /** Removes everything of an image. To repeat it is no error. */
  remove(imageId: string): Promise<void>;
  /** The ids of all images of which there is anything. */
  list(): Promise<string[]>;
  /** Removes old files that are no content, and an old folder without files. Returns whether content is left. */
  removeLeftovers(imageId: string, olderThanMs: number): Promise<boolean>;
};

/** The directory cannot be used now. The message has its path, so it is not for tenants. */
export class ImageStoreUnusable extends Error {
  override name = 'ImageStoreUnusable';
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CONTENT = /^[0-9a-f]{64}\.qcow2$/;

/** Without a directory this scheduler has no image store, and every use fails. */
export function openImageStore(directory: string | undefined): ImageStore {
  return directory === undefined ? NO_STORE : openDirectory(directory);
}

const refuse = async () => {
  const message = 'this scheduler has no image store: set GANTRY_IMAGE_STORE_DIRECTORY';
  throw new ImageStoreUnusable(message);
};
const NO_STORE: ImageStore = {
  prepare: refuse,
  publish: refuse,
  keepSent: refuse,
  sentFile: () => '',
  removeSent: refuse,
  discard: refuse,
  open: refuse,
  remove: refuse,
  list: async () => [],
  removeLeftovers: refuse,
};

function openDirectory(directory: string): ImageStore {
  const folderOf = (imageId: string) => {
    // It becomes part of a path.
    if (!ID.test(imageId)) throw new Error(`BUG: ${imageId} is no id`);
    return path.join(directory, imageId);
  };
  const contentOf = (imageId: string, sha256: string) =>
    path.join(folderOf(imageId), `${sha256}.qcow2`);
  const sentFile = (imageId: string) => path.join(folderOf(imageId), 'sent');
  const using = async <T>(use: () => Promise<T>): Promise<T> => {
    try {
      return await use();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `the image store ${directory} cannot be used: ${reason}`;
      throw new ImageStoreUnusable(message, { cause });
    }
  };
  const put = async (imageId: string, file: string, name: string) => {
    await syncFile(file);
    await rename(file, name);
    await syncDirectory(folderOf(imageId));
  };
  const removeFolder = async (imageId: string) => {
    await rm(folderOf(imageId), { recursive: true, force: true });
    await syncDirectory(directory);
  };

  return {
    prepare: (imageId) =>
      using(async () => {
        // The directory itself must exist: if its file system is not mounted, nothing may be written below it.
        await syncDirectory(directory);
        await mkdir(folderOf(imageId), { recursive: true, mode: 0o700 });
        await syncDirectory(directory);
        return path.join(folderOf(imageId), `${randomBytes(8).toString('hex')}.new`);
      }),

    publish: (imageId, file) =>
      using(async () => {
        await syncFile(file);
        const hash = createHash('sha256');
        await pipeline(createReadStream(file), hash);
        const sha256 = hash.digest('hex');
        const { size } = await stat(file);
        await put(imageId, file, contentOf(imageId, sha256));
        return { sha256, bytes: size };
      }),

    keepSent: (imageId, file) => using(() => put(imageId, file, sentFile(imageId))),
    sentFile,
    removeSent: (imageId) => using(() => rm(sentFile(imageId), { force: true })),
    discard: (file) => using(() => rm(file, { force: true })),
    open: (imageId, sha256) => using(() => open(contentOf(imageId, sha256), 'r')),
    remove: (imageId) => using(() => removeFolder(imageId)),

    list: () => using(async () => (await readdir(directory)).filter((name) => ID.test(name))),

    removeLeftovers: (imageId, olderThanMs) =>
      using(async () => {
        const folder = folderOf(imageId);
        const isOld = async (file: string) => {
          const found = await unlessMissing(stat(file));
          return found !== undefined && found.mtimeMs < Date.now() - olderThanMs;
        };
        const names = (await unlessMissing(readdir(folder))) ?? [];
        for (const name of names) {
          const file = path.join(folder, name);
          if (!CONTENT.test(name) && (await isOld(file))) await rm(file, { force: true });
        }
        if (names.length === 0 && (await isOld(folder))) await rmdir(folder);
        return names.some((name) => CONTENT.test(name));
      }),
  };
}
