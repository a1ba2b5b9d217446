import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ConnectOptions, connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { CallTimeoutError, ConnectionClosedError, LibvirtError, ProtocolError } from './errors.ts';
import { connectOpenArgsCodec } from './generated/codecs.ts';
import { KEEPALIVE_PROGRAM, REMOTE_PROGRAM } from './generated/constants.ts';
import {
  authList,
  connectClose,
  connectGetHostname,
  connectGetLibVersion,
  connectOpen,
  connectSupportsFeature,
} from './generated/procedures.ts';
import { encodePacket, type Packet } from './packet.ts';
import { connectToPeer, failureOf, type Replies, type Reply, replyOf } from './testing/peer.ts';
import { XdrDecoder } from './xdr/xdr.ts';

const HOSTNAME = connectGetHostname.number;
const LIB_VERSION = connectGetLibVersion.number;
const CLOSE = connectClose.number;

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connectTo(replies: Replies, options: Partial<ConnectOptions> = {}) {
  const connected = await connectToPeer(replies, options);
  cleanups.push(connected.close);
  return connected;
}

const hostnameReply = (call: Packet, hostname = 'gpu-1') =>
  replyOf(connectGetHostname, call, { hostname });
const replyHostname: Reply = (call, socket) => socket.write(hostnameReply(call));
const readHostname = async (connection: Connection) =>
  (await connection.call(connectGetHostname)).hostname;

describe('connect', () => {
  it('lists the authentication methods, then opens the driver', async () => {
    const { peer } = await connectTo({}, { uri: 'test:///default' });
    const procedures = [authList.number, connectOpen.number];
    expect(peer.packets.map((call) => call.procedure)).toEqual(procedures);
    expect(peer.packets.map((call) => call.serial)).toEqual([1, 2]);
    const args = new XdrDecoder(peer.packets[1]?.body ?? Buffer.alloc(0));
    expect(connectOpenArgsCodec.read(args)).toEqual({ name: 'test:///default', flags: 0 });
    args.end();
  });

  it('fails with a clear error if libvirt requires an unsupported authentication', async () => {
    const polkit: Reply = (call, socket) => socket.write(replyOf(authList, call, { types: [2] }));
    await expect(connectTo({ [authList.number]: polkit })).rejects.toThrow(ProtocolError);
  });

  it('fails with the system error if no daemon listens', async () => {
    const socketPath = join(tmpdir(), 'no-such-folder', 'sock');
    await expect(connect({ socketPath })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is cancelled by its signal if the peer does not reply', async () => {
    const abort = new AbortController();
    const silent: Reply = () => abort.abort();
    const attempt = connectTo({ [authList.number]: silent }, { signal: abort.signal });
    await expect(attempt).rejects.toThrow(ConnectionClosedError);
  });
});

describe('calls', () => {
  it('return the exact version and the host name', async () => {
    const libVer = 2n ** 53n + 1n;
    const { connection } = await connectTo({
      [LIB_VERSION]: (call, socket) =>
        socket.write(replyOf(connectGetLibVersion, call, { libVer })),
      [HOSTNAME]: replyHostname,
    });
    expect(await connection.call(connectGetLibVersion)).toEqual({ libVer });
    expect(await readHostname(connection)).toBe('gpu-1');
  });

  it('get their own replies if these arrive in another order and in one chunk', async () => {
    const waiting: Packet[] = [];
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => {
        waiting.push(call);
        if (waiting.length < 3) return;
        const replies = waiting.reverse().map((each) => hostnameReply(each, `host-${each.serial}`));
        socket.write(Buffer.concat(replies));
      },
    });
    const names = [1, 2, 3].map(() => readHostname(connection));
    expect(await Promise.all(names)).toEqual(['host-3', 'host-4', 'host-5']);
  });

  it('accept a reply that arrives in pieces', async () => {
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => {
        const bytes = hostnameReply(call);
        const cuts = [0, 3, 17, 30, bytes.length];
        const send = (index: number) => {
          if (index === cuts.length) return;
          socket.write(bytes.subarray(cuts[index - 1], cuts[index]), () =>
            setImmediate(send, index + 1),
          );
        };
        send(1);
      },
    });
    expect(await readHostname(connection)).toBe('gpu-1');
  });

  it("fail with libvirt's error, and the connection stays usable", async () => {
    const { connection } = await connectTo({
      [LIB_VERSION]: (call, socket) => socket.write(failureOf(call)),
      [HOSTNAME]: replyHostname,
    });
    const error = await connection.call(connectGetLibVersion).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(LibvirtError);
    expect(error).toMatchObject({ code: 42, domain: 10, level: 2, message: 'Domain not found' });
    expect(await readHostname(connection)).toBe('gpu-1');
  });

  it('ignore events without a subscription', async () => {
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => {
        socket.write(encodePacket({ ...call, type: 2, serial: 0, procedure: 318 }));
        socket.write(hostnameReply(call));
      },
    });
    expect(await readHostname(connection)).toBe('gpu-1');
  });

  it('beyond the limit wait until another call gets its reply', async () => {
    const waiting: (() => void)[] = [];
    const { connection, peer } = await connectTo(
      { [HOSTNAME]: (call, socket) => waiting.push(() => socket.write(hostnameReply(call))) },
      { maxCallsInFlight: 2 },
    );
    const names = [1, 2, 3].map(() => readHostname(connection));
    await expect.poll(() => waiting.length).toBe(2);
    waiting[0]?.();
    await expect.poll(() => waiting.length).toBe(3);
    for (const reply of waiting.slice(1)) reply();
    expect(await Promise.all(names)).toHaveLength(3);
    expect(peer.packets.map((call) => call.serial)).toEqual([1, 2, 3, 4, 5]);
  });

  it('fail after their time limit, and a late reply is dropped', async () => {
    const late: Packet[] = [];
    const { connection } = await connectTo({
      [LIB_VERSION]: (call) => late.push(call),
      [HOSTNAME]: (call, socket) => {
        for (const each of late) {
          socket.write(replyOf(connectGetLibVersion, each, { libVer: 1n }));
        }
        socket.write(hostnameReply(call));
      },
    });
    const call = connection.call(connectGetLibVersion, undefined, { timeoutMs: 20 });
    await expect(call).rejects.toThrow(CallTimeoutError);
    expect(await readHostname(connection)).toBe('gpu-1');
  });

  it('are cancelled by their signal, and are not sent if they were still in the queue', async () => {
    const waiting: (() => void)[] = [];
    const { connection, peer } = await connectTo(
      {
        [HOSTNAME]: (call, socket) => waiting.push(() => socket.write(hostnameReply(call))),
        [LIB_VERSION]: (call, socket) =>
          socket.write(replyOf(connectGetLibVersion, call, { libVer: 1n })),
      },
      { maxCallsInFlight: 1 },
    );
    const abort = new AbortController();
    const options = { signal: abort.signal };
    const calls = [1, 2].map(() => connection.call(connectGetHostname, undefined, options));
    await expect.poll(() => waiting.length).toBe(1);
    abort.abort(new Error('enough'));
    for (const call of calls) await expect(call).rejects.toThrow('enough');
    await expect(connection.call(connectGetHostname, undefined, options)).rejects.toThrow('enough');
    waiting[0]?.();
    await connection.call(connectGetLibVersion);
    expect(peer.packets.filter(({ procedure }) => procedure === HOSTNAME)).toHaveLength(1);
  });

  it('with arguments of the wrong type send nothing', async () => {
    const { connection, peer } = await connectTo({});
    const call = connection.call(connectSupportsFeature, { feature: 0.5 });
    await expect(call).rejects.toThrow('0.5 is not an integer');
    expect(peer.packets).toHaveLength(2);
  });

  it.each<[string, Reply]>([
    ['an unknown serial', (call, socket) => socket.write(hostnameReply({ ...call, serial: 99 }))],
    ['another procedure', (call, socket) => socket.write(hostnameReply({ ...call, procedure: 3 }))],
    ['an impossible length', (_call, socket) => socket.write(Buffer.alloc(4))],
    ['an unknown type', (call, socket) => socket.write(encodePacket({ ...call, type: 9 }))],
  ])('all fail if the peer replies with %s', async (_name, reply) => {
    const { connection } = await connectTo({ [HOSTNAME]: reply });
    const calls = [connection.call(connectGetLibVersion), readHostname(connection)];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(ProtocolError) });
    }
    expect(await connection.closed).toBeInstanceOf(ProtocolError);
  });
});

describe('the end of a connection', () => {
  it('during a reply fails every waiting and every later call', async () => {
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => socket.end(hostnameReply(call).subarray(0, 20)),
    });
    const calls = [connection.call(connectGetLibVersion), readHostname(connection)];
    const results = await Promise.allSettled(calls);
    results.push(...(await Promise.allSettled([readHostname(connection)])));
    for (const result of results) {
      expect(result).toMatchObject({ reason: expect.any(ConnectionClosedError) });
    }
    expect(await connection.closed).toBeInstanceOf(ConnectionClosedError);
  });

  it('by close fails waiting calls, sends its last call first, and is idempotent', async () => {
    const { connection, peer } = await connectTo(
      {
        // The late reply to the failed call comes before the reply to the closing call.
        [CLOSE]: (call, socket) => {
          socket.write(hostnameReply({ ...call, procedure: HOSTNAME, serial: call.serial - 1 }));
          socket.write(replyOf(connectClose, call, undefined));
        },
      },
      { maxCallsInFlight: 1 },
    );
    const waiting = readHostname(connection).catch((error: unknown) => error);
    await connection.close();
    await connection.close();
    expect(await waiting).toBeInstanceOf(ConnectionClosedError);
    expect(peer.packets.at(-1)).toMatchObject({ procedure: CLOSE, program: REMOTE_PROGRAM });
    await expect(readHostname(connection)).rejects.toThrow(ConnectionClosedError);
  });

  it('by close does not wait long for a peer that does not reply', async () => {
    const { connection } = await connectTo({ [CLOSE]: () => undefined });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => void vi.useRealTimers());
    const closing = connection.close();
    await vi.advanceTimersByTimeAsync(1_000);
    await closing;
    await expect(readHostname(connection)).rejects.toThrow(ConnectionClosedError);
  });
});

describe('keepalive', () => {
  const PING = 1;
  const PONG = 2;
  const keepalivesOf = (packets: Packet[]) =>
    packets.filter(({ program }) => program === KEEPALIVE_PROGRAM);

  it("replies to the daemon's pings", async () => {
    const { peer } = await connectTo({
      [connectOpen.number]: (call, socket) => {
        socket.write(replyOf(connectOpen, call, undefined));
        const ping = { program: KEEPALIVE_PROGRAM, procedure: PING, type: 2, serial: 0 };
        socket.write(encodePacket({ ...call, ...ping, body: Buffer.alloc(0) }));
      },
    });
    await expect
      .poll(() => keepalivesOf(peer.packets))
      .toMatchObject([{ procedure: PONG, type: 2, serial: 0 }]);
  });

  it('closes a connection whose peer replies to no ping, with that reason', async () => {
    const { connection, peer } = await connectTo({}, { keepalive: { intervalMs: 5, count: 3 } });
    const waiting = readHostname(connection).catch((error: unknown) => error);
    const reason = await connection.closed;
    expect(reason).toBeInstanceOf(ConnectionClosedError);
    expect(reason.message).toMatch(/3 pings/);
    expect(await waiting).toBe(reason);
    expect(keepalivesOf(peer.packets)).toHaveLength(3);
  });
});
