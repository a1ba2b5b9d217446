import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { type ImageSource, shownUrl } from '@gantry/daemon/image-source';
import { HostFailure } from '../base/failure.ts';
import type { Image } from '../spec.ts';
import { imageFile } from './image-file.ts';
import { type CachedImage, readImageFormat } from './image-format.ts';

type Download = {
  directory: string;
  open(): Promise<ImageSource>;
  largestBytes: number;
  /** Called once the source has sent the size. */
  onSize(sizeBytes: number): Promise<void>;
};

/**
 * Downloads an image into the directory. It gets its SHA-256 as its name after it was verified and
 * synced. Throws `image_unavailable` for every problem, and then leaves nothing behind.
 */
export async function downloadImage(image: Image, download: Download): Promise<CachedImage> {
  const path = imageFile(download.directory, image.sha256);
  // A unique name: an agent process that is still exiting must not rename this partial file.
  const beside = `${path}.${randomBytes(8).toString('hex')}.new`;
  try {
    await receive(image, beside, download);
    const format = await readImageFormat(beside);
    await rename(beside, path);
    await syncDirectory(download.directory);
    return { ...format, path };
  } catch (error) {
    await rm(beside, { force: true });
    throw unavailable(image, download.directory, error);
  }
}

async function receive(image: Image, path: string, download: Download): Promise<void> {
  const { open: openSource, largestBytes, onSize } = download;
  const { stream, sizeBytes } = await openSource();
  try {
    if (sizeBytes !== null) {
      requireAtMost(largestBytes, sizeBytes);
      await onSize(sizeBytes);
    }
    // Several disks read the image, and nothing may write to it.
    const file = await open(path, 'wx', 0o444);
    try {
      const found = await copy(stream, file, largestBytes);
      if (found !== image.sha256) {
        throw new Error(`its SHA-256 is ${found} and should be ${image.sha256}`);
      }
      await file.chmod(0o444);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    stream.destroy();
  }
}

async function copy(
  from: AsyncIterable<Buffer>,
  to: FileHandle,
  largestBytes: number,
): Promise<string> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of from) {
    sizeBytes += chunk.length;
    requireAtMost(largestBytes, sizeBytes);
    hash.update(chunk);
    await to.writeFile(chunk);
  }
  return hash.digest('hex');
}

function requireAtMost(largestBytes: number, sizeBytes: number): void {
  if (sizeBytes > largestBytes) throw new Error(`it has more than ${largestBytes} bytes`);
}

function unavailable(image: Image, directory: string, cause: unknown): HostFailure {
  const source = sourceOf(image);
  const message = `the image ${image.name} cannot be downloaded from ${source}: ${reasonOf(cause, directory)}`;
  return new HostFailure('image_unavailable', message, { cause });
}

function sourceOf({ id, url }: Image): string {
  if (id !== '') return 'a scheduler';
  return URL.canParse(url) ? shownUrl(new URL(url)) : 'its source';
}

function reasonOf(error: unknown, directory: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `no space is left in ${directory}`;
    case 'ENOENT':
      return 'there is no such file';
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ECONNRESET':
      return 'the connection was closed before the download was complete';
    case 'ERR_INVALID_URL':
      return 'it is not a URL';
    default:
      return error instanceof Error && error.message !== '' ? error.message : String(error);
  }
}
