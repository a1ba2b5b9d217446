import { createHash } from 'node:crypto';
import { KIB, MIB } from '@gantry/daemon/units';
import type { FleetHandlers } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { ImageContent__Output } from '@gantry/proto/generated/gantry/v1/ImageContent';
import { loadFleet } from '@gantry/proto/load';
import {
  credentials,
  Server,
  ServerCredentials,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { grpcTransfers, type TransferLimits } from './image-transfers.ts';

const fleet = loadFleet();
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Starts a scheduler with these calls and returns its port. One without them is of an earlier version. */
async function serve(handlers: Partial<FleetHandlers>): Promise<number> {
  const server = new Server();
  server.addService(fleet.service, handlers as UntypedServiceImplementation);
  cleanups.push(() => server.forceShutdown());
  return await new Promise((resolve, reject) => {
    const insecure = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', insecure, (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

const transfersTo = (port: number, limits: Partial<TransferLimits> = {}) =>
  grpcTransfers({
    fleet,
    address: () => `127.0.0.1:${port}`,
    credentials: () => credentials.createInsecure(),
    limits: { busyMs: 1, ...limits },
  });
const refuse = (code: status, details = 'of the scheduler') => ({ code, details });

async function contentOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

describe('fetching an image', () => {
  const FetchImage: FleetHandlers['FetchImage'] = (call) => {
    call.write({ sizeBytes: '6' });
    call.write({ data: Buffer.from('con') });
    call.write({ offset: '3', data: Buffer.from('t1!') });
    call.end();
  };

  it('returns its size, and then its content', async () => {
    const { stream, sizeBytes } = await transfersTo(await serve({ FetchImage })).open('image-1');
    expect(sizeBytes).toBe(6);
    expect((await contentOf(stream)).toString()).toBe('cont1!');
  });

  it('waits while a scheduler has no place for it or stops, and no longer than allowed', async () => {
    const replies = [status.RESOURCE_EXHAUSTED, status.UNAVAILABLE];
    const port = await serve({
      FetchImage: (call) => {
        const code = replies.shift();
        if (code === undefined) FetchImage(call);
        else call.emit('error', refuse(code));
      },
    });
    const { stream } = await transfersTo(port).open('image-1');
    expect((await contentOf(stream)).toString()).toBe('cont1!');
    const busy = await serve({
      FetchImage: (call) => call.emit('error', refuse(status.RESOURCE_EXHAUSTED, 'too many')),
    });
    await expect(transfersTo(busy, { attempts: 3 }).open('image-1')).rejects.toThrow('too many');
  });

  it('fails at once if the image is not for this host, or the scheduler is of an earlier version', async () => {
    const port = await serve({
      FetchImage: (call) => call.emit('error', refuse(status.NOT_FOUND)),
    });
    await expect(transfersTo(port).open('image-1')).rejects.toThrow('no scheduler knows it');
    await expect(transfersTo(await serve({})).open('image-1')).rejects.toThrow('earlier version');
  });

  it('fails if the scheduler ends or stands still in the middle', async () => {
    const ends: ((call: Parameters<FleetHandlers['FetchImage']>[0]) => void)[] = [
      (call) => call.emit('error', refuse(status.UNAVAILABLE)),
      () => {},
    ];
    for (const end of ends) {
      const port = await serve({
        FetchImage: (call) => {
          call.write({ sizeBytes: '6' });
          call.write({ data: Buffer.from('con') }, () => end(call));
        },
      });
      const { stream } = await transfersTo(port, { stallMs: 50 }).open('image-1');
      await expect(contentOf(stream)).rejects.toThrow(/no scheduler can be reached|sends nothing/);
    }
  });

  it('ends the call if its reader gives up', async () => {
    let isCancelled = false;
    const port = await serve({
      FetchImage: (call) => {
        call.on('cancelled', () => {
          isCancelled = true;
        });
        call.write({ sizeBytes: '6' });
      },
    });
    const { stream } = await transfersTo(port).open('image-1');
    stream.destroy();
    await vi.waitFor(() => expect(isCancelled).toBe(true));
  });

  it('reads no further than its reader, so that an image is never in memory', async () => {
    const data = Buffer.alloc(256 * KIB, 1);
    const total = 64 * MIB;
    let written = 0;
    const port = await serve({
      FetchImage: (call) => {
        call.write({ sizeBytes: String(total) });
        const next = () => {
          if (written === total) return call.end();
          written += data.length;
          call.write({ data }, next);
        };
        next();
      },
    });
    const { stream } = await transfersTo(port).open('image-1');
    // What has arrived stays the same while nothing reads: the windows of the connection are full.
    let before = -1;
    await vi.waitFor(
      () => {
        const now = written;
        const isStill = now === before;
        before = now;
        expect(isStill).toBe(true);
      },
      { interval: 300, timeout: 20_000 },
    );
    expect(written).toBeLessThan(16 * MIB);
    expect((await contentOf(stream)).length).toBe(total);
  });
});

describe('sending the content of a snapshot', () => {
  const { signal } = new AbortController();
  const blocks = [
    { offset: 0, data: Buffer.from('first') },
    { offset: 2 ** 33, data: Buffer.from('second') },
  ];
  const content = (data: Iterable<(typeof blocks)[number]> = blocks) => ({
    sizeBytes: 2 ** 34,
    data: (async function* () {
      yield* data;
    })(),
  });

  it('sends the image, the size, each block in its place, and the checksum of all', async () => {
    const received: ImageContent__Output[] = [];
    const port = await serve({
      SendImage: (call, callback) => {
        call.on('data', (message: ImageContent__Output) => received.push(message));
        call.on('end', () => callback(null, {}));
      },
    });
    await transfersTo(port).send('image-1', content(), signal);
    const hash = createHash('sha256');
    for (const { offset, data } of blocks) {
      const place = Buffer.alloc(8);
      place.writeBigUInt64BE(BigInt(offset));
      hash.update(place).update(data);
    }
    expect(received.map(({ data, ...others }) => ({ ...others, data: data.toString() }))).toEqual([
      { imageId: 'image-1', sizeBytes: String(2 ** 34), offset: '0', data: '', sha256: '' },
      { imageId: '', sizeBytes: '0', offset: '0', data: 'first', sha256: '' },
      { imageId: '', sizeBytes: '0', offset: String(2 ** 33), data: 'second', sha256: '' },
      { imageId: '', sizeBytes: '0', offset: '0', data: '', sha256: hash.digest('hex') },
    ]);
  });

  it('ends as soon as the scheduler refuses, with the reason, and for ever if it refuses the content', async () => {
    const endless = function* () {
      for (let offset = 0; ; offset += 1) yield { offset, data: Buffer.alloc(64 * KIB, 1) };
    };
    const send = async (code: status) => {
      const port = await serve({
        SendImage: (call, callback) => {
          call.once('data', () => callback(refuse(code)));
        },
      });
      return transfersTo(port).send('image-1', content(endless()), signal);
    };
    await expect(send(status.RESOURCE_EXHAUSTED)).rejects.toThrow('of the scheduler');
    await expect(send(status.NOT_FOUND)).rejects.toThrow('no scheduler knows it');
    await expect(send(status.INVALID_ARGUMENT)).rejects.toMatchObject({ code: 'bad_snapshot' });
    await expect(transfersTo(await serve({})).send('image-1', content(), signal)).rejects.toThrow(
      'earlier version',
    );
  });

  it('sends no faster than the scheduler reads, and stops if it does not', async () => {
    let sent = 0;
    const endless = function* () {
      for (;;) {
        sent += 256 * KIB;
        yield { offset: sent, data: Buffer.alloc(256 * KIB, 1) };
      }
    };
    const port = await serve({ SendImage: () => {} });
    const sending = transfersTo(port, { stallMs: 500 }).send('image-1', content(endless()), signal);
    await expect(sending).rejects.toThrow('does not read');
    expect(sent).toBeLessThan(16 * MIB);
  });

  it('is cancelled with its order', async () => {
    let isCancelled = false;
    const abort = new AbortController();
    const port = await serve({
      SendImage: (call) => {
        call.on('cancelled', () => {
          isCancelled = true;
        });
        call.once('data', () => abort.abort(new Error('the order is gone')));
      },
    });
    const sending = transfersTo(port).send('image-1', content([]), abort.signal);
    await expect(sending).rejects.toThrow('the order is gone');
    await vi.waitFor(() => expect(isCancelled).toBe(true));
  });
});
