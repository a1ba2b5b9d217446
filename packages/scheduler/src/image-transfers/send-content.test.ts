import type { FileHandle } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { KIB, MIB } from '@gantry/daemon/units';
import type { ImageContent } from '@gantry/proto/generated/gantry/v1/ImageContent';
import { expect, it } from 'vitest';
import type { FetchImageCall } from '../fleet/grpc-types.ts';
import { sendContent } from './send-content.ts';

const BYTES = 64 * MIB + 100;
const { signal } = new AbortController();

/** A file of this size whose bytes are all the same, which counts what is read of it. */
function countingFile(bytes: number) {
  const file = {
    readBytes: 0,
    async read(buffer: Buffer, start: number, wanted: number, offset: number) {
      const bytesRead = Math.min(wanted, bytes - offset);
      buffer.fill(7, start, start + bytesRead);
      file.readBytes += bytesRead;
      return { buffer, bytesRead };
    },
  };
  return file;
}

/** A call whose messages the test reads, or does not. */
const callOf = () => new PassThrough({ objectMode: true, readableHighWaterMark: 1 });

const send = (file: ReturnType<typeof countingFile>, call: PassThrough, stallMs = 60_000) =>
  sendContent({
    ...{ file: file as unknown as FileHandle, call: call as unknown as FetchImageCall },
    ...{ bytes: BYTES, stallMs, signal },
  });

it('the size comes first, and then everything in its place', async () => {
  const call = callOf();
  const sending = send(countingFile(BYTES), call);
  let end = 0;
  const messages: ImageContent[] = [];
  for await (const message of call as AsyncIterable<ImageContent>) {
    const { data, offset } = message;
    if (data) {
      expect(Number(offset)).toBe(end);
      end += data.length;
    } else messages.push(message);
  }
  await sending;
  expect(messages).toEqual([{ sizeBytes: String(BYTES) }]);
  expect(end).toBe(BYTES);
});

it('nothing is read for a host that does not read, and the transfer ends', async () => {
  const file = countingFile(BYTES);
  await expect(send(file, callOf(), 50)).rejects.toThrow('the host does not read');
  expect(file.readBytes).toBeLessThanOrEqual(20 * 256 * KIB);
});

it('a transfer ends with its call', async () => {
  const call = callOf();
  const sending = send(countingFile(BYTES), call);
  call.emit('cancelled', 'cancelled');
  await expect(sending).rejects.toThrow('the host has ended the transfer');
});

it('content that is shorter than it was is no image', async () => {
  const call = callOf();
  call.resume();
  await expect(send(countingFile(100), call)).rejects.toThrow('too short');
});
