/** A peer at the level of bytes, for tests that control every byte from the daemon. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectOptions, connect } from '../connect.ts';
import type { Connection } from '../connection.ts';
import { netMessageErrorCodec } from '../generated/codecs.ts';
import { KEEPALIVE_PROGRAM, NET_MESSAGE_STATUS, NET_MESSAGE_TYPE } from '../generated/constants.ts';
import {
  authList,
  connectClose,
  connectOpen,
  connectSupportsFeature,
} from '../generated/procedures.ts';
import { encodePacket, type Packet, PacketReader } from '../packet.ts';
import type { Procedure } from '../procedure.ts';
import { replyToKeepalive } from '../transport/keepalive.ts';
import { XdrDecoder, XdrEncoder } from '../xdr/xdr.ts';

export type Reply = (packet: Packet, socket: Socket) => void;
/** Keyed by the procedure's number. Pings and pongs are separate, because numbers overlap. */
export type Replies = Record<number, Reply> & { keepalive?: Reply };
export type Peer = {
  socketPath: string;
  /** All packets that arrived, in order. */
  packets: Packet[];
  sockets: Set<Socket>;
  close: () => Promise<void>;
};

export function replyOf<Args, Ret>(
  procedure: Procedure<Args, Ret>,
  call: Packet,
  ret: Ret,
): Buffer {
  const body = new XdrEncoder();
  procedure.ret.write(body, ret);
  return encodePacket({ ...call, type: NET_MESSAGE_TYPE.reply, body: body.bytes() });
}

export function argsOf<Args, Ret>(procedure: Procedure<Args, Ret>, call: Packet): Args {
  return procedure.args.read(new XdrDecoder(call.body));
}

/** "No such domain", as a reply to a call or as the end of a stream. */
export function failureOf(packet: Packet, type: number = NET_MESSAGE_TYPE.reply): Buffer {
  const unused = {
    dom: null,
    str1: null,
    str2: 'detail',
    str3: null,
    int1: -1,
    int2: -1,
    net: null,
  };
  const body = new XdrEncoder();
  const message = 'Domain not found';
  netMessageErrorCodec.write(body, { code: 42, domain: 10, message, level: 2, ...unused });
  return encodePacket({ ...packet, type, status: NET_MESSAGE_STATUS.error, body: body.bytes() });
}

const reply =
  <Args, Ret>(procedure: Procedure<Args, Ret>, ret: Ret): Reply =>
  (call, socket) =>
    void socket.write(replyOf(procedure, call, ret));

const HANDSHAKE: Replies = {
  [authList.number]: reply(authList, { types: [0] }),
  [connectOpen.number]: reply(connectOpen, undefined),
  [connectClose.number]: reply(connectClose, undefined),
  [connectSupportsFeature.number]: reply(connectSupportsFeature, { supported: 1 }),
};

/** Replies to pings, for tests that may take longer than the keepalive. */
export const replyToPings: Reply = (packet, socket) => {
  const pong = replyToKeepalive(packet);
  if (pong) socket.write(pong);
};

/** A call without a handler gets no reply. */
export async function servePeer(replies: Replies = {}): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), 'libvirt-peer-'));
  const socketPath = join(folder, 'sock');
  const packets: Packet[] = [];
  const sockets = new Set<Socket>();
  const table: Replies = { ...HANDSHAKE, ...replies };
  const server = createServer((socket) => {
    const reader = new PacketReader();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const packet of reader.push(chunk)) {
        packets.push(packet);
        const isKeepalive = packet.program === KEEPALIVE_PROGRAM;
        (isKeepalive ? table.keepalive : table[packet.procedure])?.(packet, socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  };
  return { socketPath, packets, sockets, close };
}

/** Opens a connection to a new peer. `close` closes both. */
export async function connectToPeer(
  replies: Replies = {},
  options: Partial<ConnectOptions> = {},
): Promise<{ connection: Connection; peer: Peer; close: () => Promise<void> }> {
  const peer = await servePeer(replies);
  try {
    const connection = await connect({ ...options, socketPath: peer.socketPath });
    const close = async () => {
      await connection.close();
      await peer.close();
    };
    return { connection, peer, close };
  } catch (error) {
    await peer.close();
    throw error;
  }
}
