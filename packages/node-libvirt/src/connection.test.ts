import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Connection, type ConnectOptions, connect } from './connection.ts';
import { ConnectionClosedError, LibvirtError, ProtocolError } from './errors.ts';
import { encodePacket, type Packet, PacketReader, REMOTE_PROGRAM } from './packet.ts';
import { XdrDecoder, XdrEncoder } from './xdr.ts';

const OPEN = 1;
const CLOSE = 2;
const HOSTNAME = 59;
const AUTH_LIST = 66;
const LIB_VERSION = 157;

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Answer = (call: Packet, socket: Socket) => void;
type Peer = { socketPath: string; calls: Packet[] };

const replyTo = (call: Packet, body = new XdrEncoder(), status = 0): Buffer =>
  encodePacket({ ...call, type: 1, status, body: body.bytes() });

const HANDSHAKE: Record<number, Answer> = {
  [AUTH_LIST]: (call, socket) => socket.write(replyTo(call, new XdrEncoder().uint(1).int(0))),
  [OPEN]: (call, socket) => socket.write(replyTo(call)),
  [CLOSE]: (call, socket) => socket.write(replyTo(call)),
};

/** Speaks the protocol byte by byte: a procedure without an answer is left waiting. */
async function servePeer(answers: Record<number, Answer>): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), 'libvirt-peer-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const socketPath = join(folder, 'sock');
  const calls: Packet[] = [];
  const sockets = new Set<Socket>();
  const table = { ...HANDSHAKE, ...answers };
  const server = createServer((socket) => {
    const reader = new PacketReader();
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const call of reader.push(chunk)) {
        calls.push(call);
        table[call.procedure]?.(call, socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { socketPath, calls };
}

async function connectTo(
  answers: Record<number, Answer>,
  options: Partial<ConnectOptions> = {},
): Promise<{ connection: Connection; peer: Peer }> {
  const peer = await servePeer(answers);
  const connection = await connect({ socketPath: peer.socketPath, ...options });
  cleanups.push(() => connection.close());
  return { connection, peer };
}

const hostnameReply = (call: Packet, name = 'gpu-1') =>
  replyTo(call, new XdrEncoder().string(name));
const answerHostname: Answer = (call, socket) => socket.write(hostnameReply(call));

function noSuchDomain(): XdrEncoder {
  const none = () => undefined;
  const error = new XdrEncoder().int(42).int(10);
  error.optional('Domain not found', (encoder, value) => encoder.string(value)).int(2);
  error.optional(undefined, none);
  error.optional('detail', (encoder, value) => encoder.string(value));
  return error.optional(undefined, none).optional(undefined, none).int(-1).int(-1).bool(false);
}

describe('connect', () => {
  it('asks for the ways to authenticate, then opens the driver', async () => {
    const { peer } = await connectTo({}, { uri: 'test:///default' });
    expect(peer.calls.map((call) => call.procedure)).toEqual([AUTH_LIST, OPEN]);
    expect(peer.calls.map((call) => call.serial)).toEqual([1, 2]);
    const args = new XdrDecoder(peer.calls[1]?.body ?? Buffer.alloc(0));
    expect(args.optional((decoder) => decoder.string())).toBe('test:///default');
    expect(args.uint()).toBe(0);
    args.end();
  });

  it('says so when libvirt wants an authentication it does not speak', async () => {
    const polkit: Answer = (call, socket) =>
      socket.write(replyTo(call, new XdrEncoder().uint(1).int(2)));
    await expect(connectTo({ [AUTH_LIST]: polkit })).rejects.toThrow(ProtocolError);
  });

  it('fails with the system error where nobody listens', async () => {
    const socketPath = join(tmpdir(), 'no-such-folder', 'sock');
    await expect(connect({ socketPath })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('gives up on a silent peer when its signal says so', async () => {
    const abort = new AbortController();
    const silent: Answer = () => abort.abort();
    const attempt = connectTo({ [AUTH_LIST]: silent }, { signal: abort.signal });
    await expect(attempt).rejects.toThrow(ConnectionClosedError);
  });
});

describe('calls', () => {
  it('return the version to the digit and the host name', async () => {
    const version = 2n ** 53n + 1n;
    const { connection } = await connectTo({
      [LIB_VERSION]: (call, socket) =>
        socket.write(replyTo(call, new XdrEncoder().uhyper(version))),
      [HOSTNAME]: answerHostname,
    });
    expect(await connection.getLibVersion()).toBe(version);
    expect(await connection.getHostname()).toBe('gpu-1');
  });

  it('get their own replies when these come in another order, in one chunk', async () => {
    const waiting: Packet[] = [];
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => {
        waiting.push(call);
        if (waiting.length < 3) return;
        socket.write(
          Buffer.concat(
            waiting.reverse().map((each) => hostnameReply(each, `host-${each.serial}`)),
          ),
        );
      },
    });
    const names = [connection.getHostname(), connection.getHostname(), connection.getHostname()];
    expect(await Promise.all(names)).toEqual(['host-3', 'host-4', 'host-5']);
  });

  it('survive a reply that arrives in pieces', async () => {
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
    expect(await connection.getHostname()).toBe('gpu-1');
  });

  it('fail with what libvirt says, and leave the connection usable', async () => {
    const { connection } = await connectTo({
      [LIB_VERSION]: (call, socket) => socket.write(replyTo(call, noSuchDomain(), 1)),
      [HOSTNAME]: answerHostname,
    });
    const error = await connection.getLibVersion().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(LibvirtError);
    expect(error).toMatchObject({ code: 42, domain: 10, level: 2, message: 'Domain not found' });
    expect(await connection.getHostname()).toBe('gpu-1');
  });

  it('are not disturbed by events and by other programs', async () => {
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => {
        socket.write(encodePacket({ ...call, type: 2, serial: 0, procedure: 318 }));
        socket.write(encodePacket({ ...call, program: 0x6b65_6570, type: 2, serial: 0 }));
        socket.write(hostnameReply(call));
      },
    });
    expect(await connection.getHostname()).toBe('gpu-1');
  });

  it.each<[string, Answer]>([
    ['an unknown serial', (call, socket) => socket.write(hostnameReply({ ...call, serial: 99 }))],
    ['another procedure', (call, socket) => socket.write(hostnameReply({ ...call, procedure: 3 }))],
    ['an impossible length', (_call, socket) => socket.write(Buffer.alloc(4))],
  ])('all fail when the peer answers with %s', async (_name, answer) => {
    const { connection } = await connectTo({ [HOSTNAME]: answer });
    const results = await Promise.allSettled([
      connection.getLibVersion(),
      connection.getHostname(),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(ProtocolError) });
    }
  });
});

describe('the end of a connection', () => {
  it('by the peer in the middle of a reply fails every waiting and every later call', async () => {
    const { connection } = await connectTo({
      [HOSTNAME]: (call, socket) => socket.end(hostnameReply(call).subarray(0, 20)),
    });
    const results = await Promise.allSettled([
      connection.getLibVersion(),
      connection.getHostname(),
    ]);
    results.push(...(await Promise.allSettled([connection.getHostname()])));
    for (const result of results) {
      expect(result).toMatchObject({ reason: expect.any(ConnectionClosedError) });
    }
  });

  it('by close fails waiting calls, says farewell, and may be repeated', async () => {
    const { connection, peer } = await connectTo({
      // The late answer to the failed call comes before the farewell's.
      [CLOSE]: (call, socket) => {
        socket.write(hostnameReply({ ...call, procedure: HOSTNAME, serial: call.serial - 1 }));
        socket.write(replyTo(call));
      },
    });
    const waiting = connection.getHostname().catch((error: unknown) => error);
    await connection.close();
    await connection.close();
    expect(await waiting).toBeInstanceOf(ConnectionClosedError);
    expect(peer.calls.at(-1)).toMatchObject({ procedure: CLOSE, program: REMOTE_PROGRAM });
    await expect(connection.getHostname()).rejects.toThrow(ConnectionClosedError);
  });

  it('by close does not wait long for a peer that says nothing', async () => {
    const { connection } = await connectTo({ [CLOSE]: () => undefined });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => void vi.useRealTimers());
    const closing = connection.close();
    vi.advanceTimersByTime(1_000);
    await closing;
    await expect(connection.getHostname()).rejects.toThrow(ConnectionClosedError);
  });
});
