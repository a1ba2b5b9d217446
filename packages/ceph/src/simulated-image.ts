import { open } from 'node:fs/promises';
import { readDiskSize } from './convert-image.ts';
import type { ImageFileFormat } from './storage-cluster.ts';
import { StorageError } from './storage-error.ts';

const KEPT_BYTES = 104;

/** Reads of an image file what the simulated cluster keeps: the size of the disk, and its first bytes if they are raw. */
export async function readImageHead({
  file,
  format,
  maxBytes = Number.MAX_SAFE_INTEGER,
}: {
  file: string;
  format: ImageFileFormat;
  maxBytes?: number | undefined;
}): Promise<{ sizeBytes: number; content: string }> {
  const sizeBytes = await readDiskSize(file, format);
  if (sizeBytes > maxBytes)
    throw new StorageError('failed', `The image file ${file} has a disk of ${sizeBytes} bytes.`);
  if (format !== 'raw') return { sizeBytes, content: '' };
  const handle = await open(file);
  try {
    const head = Buffer.alloc(Math.min(KEPT_BYTES, sizeBytes));
    await handle.read(head, 0, head.length, 0);
    return { sizeBytes, content: textOf(head) };
  } finally {
    await handle.close();
  }
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
