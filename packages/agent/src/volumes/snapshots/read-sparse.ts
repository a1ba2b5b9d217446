import { open } from 'node:fs/promises';
import { KIB } from '@gantry/daemon/units';
import type { SnapshotContent } from '../../host-snapshots.ts';

/** What is sent in one message. */
const BLOCK_BYTES = 256 * KIB;
/** Most of a disk is zeroes, which are read faster in large pieces. */
const READ_BYTES = 8 * BLOCK_BYTES;
const ZEROES = Buffer.alloc(BLOCK_BYTES);

/** Calls `use` with the content of a file or a device, block by block. Nothing of it is kept in memory. */
export async function withSparse<T>(
  { path, sizeBytes }: { path: string; sizeBytes: number },
  use: (content: SnapshotContent) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r');
  async function* blocks(): SnapshotContent['data'] & AsyncGenerator {
    for (let offset = 0; offset < sizeBytes; ) {
      const wanted = Math.min(READ_BYTES, sizeBytes - offset);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, offset);
      if (bytesRead === 0) throw new Error(`${path} has less than ${sizeBytes} bytes`);
      for (let start = 0; start < bytesRead; start += BLOCK_BYTES) {
        const data = buffer.subarray(start, Math.min(start + BLOCK_BYTES, bytesRead));
        if (!data.equals(ZEROES.subarray(0, data.length))) yield { offset: offset + start, data };
      }
      offset += bytesRead;
    }
  }
  try {
    return await use({ sizeBytes, data: blocks() });
  } finally {
    await file.close();
  }
}
