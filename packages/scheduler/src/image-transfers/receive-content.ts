import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { GIB } from '@gantry/daemon/units';
import type { Sql } from '@gantry/db/connect';
import { lockExport, readExport, updateExported } from '@gantry/db/queries/storage/image-exports';
import { transact } from '@gantry/db/transact';
import { CloudError, notFound } from '@gantry/model/errors';
import type { ImageContent__Output } from '@gantry/proto/generated/gantry/v1/ImageContent';
import { isUuid } from '../attached/host-report.ts';
import type { SendImageCall } from '../fleet/grpc-types.ts';
import type { ImageStore } from '../storage/image-store/image-store.ts';

type Context = { sql: Sql; store: ImageStore; stallMs: number; signal: AbortSignal };
type Receiving = { hostId: string; call: SendImageCall };

/**
 * Stores what a host sends of a snapshot, and then takes the order from the host's spec. An interrupted call leaves nothing.
 * What has arrived completely is kept under a name of the image, so to store it twice does no harm.
 */
export async function receiveContent(context: Context, { hostId, call }: Receiving): Promise<void> {
  const { sql, store, stallMs, signal } = context;
  const stop = () => call.destroy(signal.reason);
  const stalled = setTimeout(
    () => call.destroy(new CloudError('unavailable', 'the host does not send')),
    stallMs,
  );
  signal.addEventListener('abort', stop);
  let file: string | undefined;
  try {
    signal.throwIfAborted();
    const messages = progressOf(call, () => stalled.refresh());
    const { value: first, done } = await messages.next();
    if (done || !isUuid(first.imageId)) throw invalid('the first message names no image');
    const { imageId } = first;
    const wanted = await readExport(sql, { hostId, imageId });
    if (!wanted) throw notFound('image');
    const sizeBytes = Number(first.sizeBytes);
    if (sizeBytes === 0 || sizeBytes > wanted.size_gib * GIB)
      throw invalid(`the snapshot has ${first.sizeBytes} bytes, not ${wanted.size_gib} GiB`);
    file = await store.prepare(imageId);
    await writeContent(messages, { file, sizeBytes });
    // The content is on the disk of the store, and takes long to be synced: the host has nothing more to send.
    clearTimeout(stalled);
    await store.keepSent(imageId, file);
    await transact(sql, async (tx) => {
      if (!(await lockExport(tx, { hostId, imageId }))) throw notFound('image');
      await updateExported(tx, imageId);
    });
  } catch (error) {
    if (file !== undefined) await store.discard(file).catch(() => {});
    throw error;
  } finally {
    clearTimeout(stalled);
    signal.removeEventListener('abort', stop);
  }
}

async function* progressOf(
  call: AsyncIterable<ImageContent__Output>,
  progress: () => void,
): AsyncGenerator<ImageContent__Output, undefined> {
  for await (const message of call) {
    progress();
    yield message;
  }
  return undefined;
}

type Target = { file: string; sizeBytes: number };

async function writeContent(
  messages: AsyncIterable<ImageContent__Output>,
  { file, sizeBytes }: Target,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let end = 0;
  let expected = '';
  try {
    await handle.truncate(sizeBytes);
    for await (const message of messages) {
      if (expected !== '') throw invalid('a message follows the last one');
      const { data, sha256 } = message;
      const offset = Number(message.offset);
      if (data.length > 0) {
        if (offset < end || offset + data.length > sizeBytes)
          throw invalid(`data at ${message.offset} is not in its place`);
        await writeAll(handle, { data, offset });
        addToHash(hash, { data, offset });
        end = offset + data.length;
      }
      expected = sha256;
    }
  } finally {
    await handle.close();
  }
  if (expected === '') throw invalid('the last message has no checksum');
  const found = hash.digest('hex');
  if (found !== expected) throw invalid(`the content has the checksum ${found}, not ${expected}`);
}

type Part = { data: Buffer; offset: number };

async function writeAll(handle: FileHandle, { data, offset }: Part): Promise<void> {
  for (let written = 0; written < data.length; ) {
    const left = data.length - written;
    written += (await handle.write(data, written, left, offset + written)).bytesWritten;
  }
}

/** As the proto says: each part after its offset. */
function addToHash(hash: Hash, { data, offset }: Part): void {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(offset));
  hash.update(place).update(data);
}

function invalid(message: string): CloudError {
  return new CloudError('bad_request', message);
}
