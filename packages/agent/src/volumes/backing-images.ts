import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { imageOfFile } from '../images/image-file.ts';
import { parseQcow2Header, QCOW2_HEADER_BYTES, type Qcow2Header } from '../images/qcow2-header.ts';

/**
 * Returns the SHA-256 of the images that the disks in a directory use as backing files, read from
 * the disks themselves.
 */
export async function listBackingImages(directory: string): Promise<Set<string>> {
  const images = new Set<string>();
  for (const name of (await unlessMissing(readdir(directory))) ?? []) {
    if (!name.endsWith('.qcow2')) continue;
    // The disk was removed after the directory was read, so it needs no image.
    const backing = await unlessMissing(readBackingName(join(directory, name)));
    if (backing) images.add(imageOfFile(backing));
  }
  return images;
}

/** Works also while an emulator has the file open; qemu-img would need the emulator's lock. */
export async function readQcow2Header(path: string): Promise<Qcow2Header> {
  return await withHeader(path, async (header) => header);
}

/** Returns the path of the backing file, or null if there is none. */
export async function readBackingName(path: string): Promise<string | null> {
  return await withHeader(path, async ({ backingName }, file) =>
    backingName ? String(await readAt(file, backingName)) : null,
  );
}

async function withHeader<T>(
  path: string,
  work: (header: Qcow2Header, file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r');
  try {
    const bytes = await readAt(file, { offset: 0, length: QCOW2_HEADER_BYTES });
    return await work(parseQcow2Header(bytes), file);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, at: { offset: number; length: number }): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(at.length), 0, at.length, at.offset);
  return buffer.subarray(0, bytesRead);
}
