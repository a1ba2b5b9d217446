import { stat } from 'node:fs/promises';
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { MIB } from '@gantry/daemon/units';
import type { Bucket } from './bucket.ts';
import { payloadOfFile } from './payload.ts';

/** Large enough that requests are few, and small enough that to repeat one is cheap. */
export const PART_BYTES = 64 * MIB;
/** S3 has no more parts in an object, and none above 5 GiB. */
const MOST_PARTS = 10_000;
/** One connection rarely uses the whole bandwidth to a distant bucket. */
const MOST_AT_ONCE = 4;

/**
 * Stores a file as an object, in parts if it is large. Parts are sent from the file, so the memory that this needs does not
 * depend on their size. If it fails, nothing is left in the bucket unless the bucket does not reply.
 */
export async function uploadFile(
  bucket: Bucket,
  { file, name, partBytes = PART_BYTES }: { file: string; name: string; partBytes?: number },
): Promise<void> {
  const { size } = await stat(file);
  const bytes = partBytesOf(size, partBytes);
  if (size <= bytes)
    return await bucket.put(name, await payloadOfFile(file, { start: 0, bytes: size }));
  const upload = { name, id: await bucket.startUpload(name) };
  try {
    await bucket.completeUpload(upload, await putParts(bucket, { file, size, bytes, upload }));
  } catch (error) {
    await bucket.abortUpload(upload).catch(() => {});
    throw error;
  }
}

/** Returns the size of each part but the last, in whole MiB above the least size. */
export function partBytesOf(size: number, least = PART_BYTES): number {
  return Math.max(least, Math.ceil(size / MOST_PARTS / MIB) * MIB);
}

type Parts = {
  file: string;
  size: number;
  bytes: number;
  upload: { name: string; id: string };
};

async function putParts(bucket: Bucket, { file, size, bytes, upload }: Parts): Promise<string[]> {
  const tags: string[] = [];
  let next = 0;
  let hasFailed = false;
  const putNext = async () => {
    while (!hasFailed && next * bytes < size) {
      const index = next;
      next += 1;
      const start = index * bytes;
      const part = { start, bytes: Math.min(bytes, size - start) };
      const payload = await payloadOfFile(file, part);
      tags[index] = await bucket.putPart(upload, { number: index + 1, payload });
    }
  };
  const worker = () =>
    putNext().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    });
  await allSettledOrThrow(Array.from({ length: MOST_AT_ONCE }, worker));
  return tags;
}
