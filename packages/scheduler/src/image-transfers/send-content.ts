import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { KIB } from '@gantry/daemon/units';
import { CloudError } from '@gantry/model/errors';
import type { FetchImageCall } from '../fleet/grpc-types.ts';

type Sending = {
  file: FileHandle;
  /** The size of the content. */
  bytes: number;
  call: FetchImageCall;
  stallMs: number;
  signal: AbortSignal;
};

/** Small enough that specs of other hosts do not wait behind one. */
const CHUNK_BYTES = 256 * KIB;

/** Writes a file to a call, as fast as the host reads. Throws if the host does not read for a while, or is gone. */
export async function sendContent({ file, bytes, call, stallMs, signal }: Sending): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort(new CloudError('unavailable', 'the host has ended the transfer'));
  call.once('cancelled', leave);
  try {
    call.write({ sizeBytes: String(bytes) });
    for (let offset = 0; offset < bytes; ) {
      gone.signal.throwIfAborted();
      signal.throwIfAborted();
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        offset,
      );
      if (bytesRead === 0) throw new Error('the content in the image store is too short');
      const data = buffer.subarray(0, bytesRead);
      if (!call.write({ offset: String(offset), data }))
        await drained(call, { stallMs, ends: [gone.signal, signal] });
      offset += bytesRead;
    }
    call.end();
  } finally {
    call.off('cancelled', leave);
  }
}

async function drained(
  call: FetchImageCall,
  { stallMs, ends }: { stallMs: number; ends: AbortSignal[] },
): Promise<void> {
  const limit = AbortSignal.timeout(stallMs);
  try {
    await once(call, 'drain', { signal: AbortSignal.any([...ends, limit]) });
  } catch (error) {
    for (const end of ends) end.throwIfAborted();
    if (limit.aborted) throw new CloudError('unavailable', 'the host does not read');
    throw error;
  }
}
