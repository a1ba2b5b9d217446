import { open } from 'node:fs/promises';
import { QCOW2_HEADER_BYTES, readQcow2Size } from './qcow2-header.ts';
import { StorageError } from './storage-error.ts';

/** Reads of an image file what the simulated cluster keeps: the size of the disk, and its first bytes if they are raw. */
export async function readImageHead(
  file: string,
  format: 'raw' | 'qcow2',
): Promise<{ sizeBytes: number; content: string }> {
  const handle = await open(file).catch((cause: unknown) => {
    throw new StorageError('failed', `The image file ${file} cannot be read.`, { cause });
  });
  try {
    const { size } = await handle.stat();
    const head = Buffer.alloc(Math.min(QCOW2_HEADER_BYTES, size));
    await handle.read(head, 0, head.length, 0);
    if (format === 'raw') return { sizeBytes: size, content: textOf(head) };
    return { sizeBytes: readQcow2Size(file, head), content: '' };
  } finally {
    await handle.close();
  }
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
