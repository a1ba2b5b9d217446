import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { FleetClient } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { ImageContent } from '@gantry/proto/generated/gantry/v1/ImageContent';
import type { ClientWritableStream } from '@grpc/grpc-js';
import type { SnapshotContent } from '../host-snapshots.ts';

type Sending = {
  imageId: string;
  content: SnapshotContent;
  signal: AbortSignal;
  stallMs: number;
};

/** How long a scheduler may take to store what has arrived. */
const STORE_MS = 600_000;

/** Sends content with SendImage, as fast as the scheduler stores it. Returns when it has replied that it has stored it. */
export async function sendContent(
  client: FleetClient,
  { imageId, content, signal, stallMs }: Sending,
): Promise<void> {
  const ended = new AbortController();
  let call: ClientWritableStream<ImageContent> | undefined;
  const replied = new Promise<void>((resolve, reject) => {
    call = client.sendImage((error) => {
      ended.abort(error ?? undefined);
      if (error) reject(error);
      else resolve();
    });
  });
  // Also if the content cannot be read and nothing waits for the reply any more.
  replied.catch(() => {});
  const stream = call as unknown as ClientWritableStream<ImageContent>;
  stream.on('error', () => {});
  try {
    const write = async (message: ImageContent) => {
      signal.throwIfAborted();
      if (ended.signal.aborted) await replied;
      if (!stream.write(message)) await drained(stream, { ended: ended.signal, signal, stallMs });
    };
    await write({ imageId, sizeBytes: String(content.sizeBytes) });
    const hash = createHash('sha256');
    for await (const { offset, data } of content.data) {
      const place = Buffer.alloc(8);
      place.writeBigUInt64BE(BigInt(offset));
      hash.update(place).update(data);
      await write({ offset: String(offset), data });
    }
    await write({ sha256: hash.digest('hex') });
    stream.end();
    await endOf(replied, AbortSignal.any([signal, AbortSignal.timeout(STORE_MS)]));
  } catch (error) {
    stream.cancel();
    throw error;
  }
}

type Waiting = { ended: AbortSignal; signal: AbortSignal; stallMs: number };

/** Returns also if the call has ended. */
async function drained(
  stream: ClientWritableStream<ImageContent>,
  { ended, signal, stallMs }: Waiting,
): Promise<void> {
  const limit = AbortSignal.timeout(stallMs);
  try {
    await once(stream, 'drain', { signal: AbortSignal.any([ended, signal, limit]) });
  } catch (error) {
    signal.throwIfAborted();
    if (ended.aborted) return;
    if (limit.aborted) throw new Error('the scheduler does not read');
    throw error;
  }
}

async function endOf(replied: Promise<void>, limit: AbortSignal): Promise<void> {
  const over = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true });
  });
  limit.throwIfAborted();
  await Promise.race([replied, over]);
}
