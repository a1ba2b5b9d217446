/**
 * A connection to libvirt's daemon over its Unix socket.
 *
 * Calls may overlap: each carries a serial number and its reply finds it by that number, in any
 * order. A call ends once: with its result, with LibvirtError where libvirt refused, with
 * ProtocolError or XdrError where the answer could not be read, or with ConnectionClosedError. When
 * the connection ends, for whatever reason, every call still waiting fails, and so does every later
 * one; a new connection is the only cure.
 */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { ConnectionClosedError, decodeLibvirtError, ProtocolError } from './errors.ts';
import {
  encodePacket,
  PACKET_STATUS,
  PACKET_TYPE,
  type Packet,
  PacketReader,
  REMOTE_PROGRAM,
} from './packet.ts';
import { XdrDecoder, XdrEncoder } from './xdr.ts';

/** remote_procedure in src/remote/remote_protocol.x of libvirt's source. */
const PROCEDURE = { open: 1, close: 2, getHostname: 59, authList: 66, getLibVersion: 157 } as const;

const AUTH_NONE = 0;
const MAX_AUTH_TYPES = 20;
/** The daemon cleans up after a lost connection as well, so a farewell is not worth a long wait. */
const CLOSE_LIMIT_MS = 1_000;

export type ConnectOptions = {
  socketPath: string;
  /** The driver to open. Default: the system's QEMU. */
  uri?: string;
  /** Ends the connection at once, in whatever state it is. */
  signal?: AbortSignal;
};

/** Connects and opens the driver. A socket nobody listens on fails with the system's own error. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { socketPath, uri = 'qemu:///system', signal } = options;
  const socket = createConnection({ path: socketPath, ...(signal && { signal }) });
  await once(socket, 'connect');
  const connection = new Connection(socket);
  try {
    await authenticate(connection);
    await open(connection, uri);
    return connection;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function authenticate(connection: Connection): Promise<void> {
  const types = await connection.call(PROCEDURE.authList, undefined, (reply) =>
    reply.array(MAX_AUTH_TYPES, (decoder) => decoder.int()),
  );
  if (types.length > 0 && !types.includes(AUTH_NONE)) {
    throw new ProtocolError(`libvirt wants authentication (${types.join(', ')}); connect as root`);
  }
}

async function open(connection: Connection, uri: string): Promise<void> {
  const args = new XdrEncoder().optional(uri, (encoder, value) => encoder.string(value)).uint(0);
  await connection.call(PROCEDURE.open, args, () => undefined);
}

type Waiter = { procedure: number; settle(packet: Packet): void; fail(error: Error): void };

export class Connection {
  readonly #socket: Socket;
  readonly #reader = new PacketReader();
  readonly #waiters = new Map<number, Waiter>();
  #lastSerial = 0;
  /** Why no further call can be made. */
  #ended: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) =>
      this.#end(new ConnectionClosedError(error.message, { cause: error })),
    );
    socket.on('close', () => this.#end(new ConnectionClosedError('libvirt closed the connection')));
  }

  /** libvirt's version as one number; `renderLibVersion` makes it readable. */
  getLibVersion(): Promise<bigint> {
    return this.call(PROCEDURE.getLibVersion, undefined, (reply) => reply.uhyper());
  }

  getHostname(): Promise<string> {
    return this.call(PROCEDURE.getHostname, undefined, (reply) => reply.string());
  }

  /** Fails every waiting call, says farewell and closes the socket. Never throws; may be repeated. */
  async close(): Promise<void> {
    if (this.#ended) return;
    const closed = new ConnectionClosedError('the connection was closed');
    this.#failWaiters(closed);
    const farewell = this.call(PROCEDURE.close, undefined, () => undefined);
    this.#ended = closed;
    const limit = setTimeout(() => this.#socket.destroy(), CLOSE_LIMIT_MS);
    await farewell.catch(() => undefined);
    clearTimeout(limit);
    this.#socket.destroy();
  }

  /** One call: `read` takes the reply's body apart and must use all of it. */
  call<T>(
    procedure: number,
    args: XdrEncoder | undefined,
    read: (reply: XdrDecoder) => T,
  ): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const serial = this.#nextSerial();
    const body = args?.bytes() ?? Buffer.alloc(0);
    const packet = { program: REMOTE_PROGRAM, type: PACKET_TYPE.call, status: PACKET_STATUS.ok };
    return new Promise<T>((resolve, reject) => {
      const bytes = encodePacket({ ...packet, procedure, serial, body });
      this.#waiters.set(serial, {
        procedure,
        settle: (reply) => resolve(readReply(reply, read)),
        fail: reject,
      });
      this.#socket.write(bytes);
    });
  }

  #nextSerial(): number {
    do this.#lastSerial = (this.#lastSerial % 0xffff_ffff) + 1;
    while (this.#waiters.has(this.#lastSerial));
    return this.#lastSerial;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const packet of this.#reader.push(chunk)) this.#dispatch(packet);
    } catch (error) {
      this.#end(error instanceof Error ? error : new ProtocolError(String(error)));
      this.#socket.destroy();
    }
  }

  #dispatch(packet: Packet): void {
    // Events and other programs' packets are nobody's answer.
    if (packet.program !== REMOTE_PROGRAM || packet.type === PACKET_TYPE.message) return;
    const waiter = this.#waiters.get(packet.serial);
    if (!waiter) {
      // While closing, answers still come to calls that have been failed already.
      if (this.#ended) return;
      throw new ProtocolError(`a reply to call ${packet.serial}, which nobody made`);
    }
    if (packet.type !== PACKET_TYPE.reply || packet.procedure !== waiter.procedure) {
      throw new ProtocolError(`call ${packet.serial} was answered by a packet of another kind`);
    }
    this.#waiters.delete(packet.serial);
    try {
      waiter.settle(packet);
    } catch (error) {
      waiter.fail(error instanceof Error ? error : new ProtocolError(String(error)));
    }
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    this.#failWaiters(this.#ended);
  }

  #failWaiters(reason: Error): void {
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.fail(reason);
  }
}

function readReply<T>(packet: Packet, read: (reply: XdrDecoder) => T): T {
  const body = new XdrDecoder(packet.body);
  if (packet.status === PACKET_STATUS.error) throw decodeLibvirtError(body);
  if (packet.status !== PACKET_STATUS.ok) throw new ProtocolError(`reply status ${packet.status}`);
  const value = read(body);
  body.end();
  return value;
}
