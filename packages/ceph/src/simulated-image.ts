import { open } from 'node:fs/promises';
import { StorageError } from './storage-error.ts';

const QCOW2 = 'QFI\u00fb';

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
    const head = Buffer.alloc(64);
    await handle.read(head, 0, head.length, 0);
    if (format === 'raw') return { sizeBytes: size, content: textOf(head) };
    const isQcow2 = head.toString('latin1', 0, 4) === QCOW2;
    if (!isQcow2) throw new StorageError('failed', `The image file ${file} is not a qcow2 file.`);
    if (head.readBigUInt64BE(8) !== 0n)
      throw new StorageError('failed', `The image file ${file} has a backing file.`);
    return { sizeBytes: Number(head.readBigUInt64BE(24)), content: '' };
  } finally {
    await handle.close();
  }
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
