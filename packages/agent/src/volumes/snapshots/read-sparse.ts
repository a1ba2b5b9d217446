import { type FileHandle, open } from 'node:fs/promises';
import { GIB, KIB } from '@gantry/daemon/units';
import type { SnapshotContent } from '../../host-snapshots.ts';

/** What is sent in one message. */
const BLOCK_BYTES = 256 * KIB;
/** Zeroes are read faster in large pieces. */
const READ_BYTES = 8 * BLOCK_BYTES;
const ZEROES = Buffer.alloc(BLOCK_BYTES);
/** The list of the parts of so much content is small, even if it is in many fragments. */
const WINDOW_BYTES = GIB;

export type Part = { offset: number; length: number };

type Sparse = {
  path: string;
  sizeBytes: number;
  /** Returns what is not a hole of this part. Absent: it is not known, and everything is read. */
  listData?: (within: Part) => Promise<Part[]>;
};

/** Calls `use` with the content of a file or a device, block by block. Nothing of it is kept in memory. */
export async function withSparse<T>(
  { path, sizeBytes, listData = async (part) => [part] }: Sparse,
  use: (content: SnapshotContent) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r');
  async function* blocks(): SnapshotContent['data'] & AsyncGenerator {
    for (const window of split({ offset: 0, length: sizeBytes }, WINDOW_BYTES)) {
      for (const part of await listData(window)) yield* readPart({ file, path }, part);
    }
  }
  try {
    return await use({ sizeBytes, data: blocks() });
  } finally {
    await file.close();
  }
}

async function* readPart(
  { file, path }: { file: FileHandle; path: string },
  part: Part,
): AsyncGenerator<{ offset: number; data: Buffer }> {
  for (const { offset, length } of split(part, READ_BYTES)) {
    const content = await readAll(file, { offset, length });
    if (content.length < length) throw new Error(`${path} has less than ${offset + length} bytes`);
    for (let start = 0; start < length; start += BLOCK_BYTES) {
      const data = content.subarray(start, Math.min(start + BLOCK_BYTES, length));
      if (!data.equals(ZEROES.subarray(0, data.length))) yield { offset: offset + start, data };
    }
  }
}

/** Returns less only at the end of the file. */
async function readAll(file: FileHandle, { offset, length }: Part): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function* split({ offset, length }: Part, most: number): Generator<Part> {
  const end = offset + length;
  for (let at = offset; at < end; at += most)
    yield { offset: at, length: Math.min(most, end - at) };
}
