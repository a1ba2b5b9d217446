/**
 * A connection to libvirt's daemon.
 *
 * Calls may overlap. A call returns its result or throws one of these: LibvirtError if libvirt
 * failed the call, ProtocolError or XdrError if the reply could not be read, CallTimeoutError, or
 * ConnectionClosedError. When the connection ends, every open call and stream fails, and so does
 * every later one. Only a new connection helps (client.ts opens them).
 */
import type { Socket } from 'node:net';
import { type CallOptions, Calls, type Target } from './calls.ts';
import { ConnectionClosedError, decodeLibvirtError, ProtocolError } from './errors.ts';
import {
  KEEPALIVE_PROGRAM,
  NET_MESSAGE_STATUS as STATUS,
  NET_MESSAGE_TYPE as TYPE,
} from './generated/constants.ts';
import { connectClose } from './generated/procedures.ts';
import { encodePacket, type Packet, PacketReader } from './packet.ts';
import type { EventMessage, Procedure, StreamProcedure } from './procedure.ts';
import { LibvirtStream, type StreamChannel } from './stream.ts';
import { Keepalive, type KeepaliveOptions, PING, replyToKeepalive } from './transport/keepalive.ts';
import type { Codec } from './xdr/codec.ts';
import { XdrDecoder, XdrEncoder } from './xdr/xdr.ts';

/** The daemon also cleans up after a lost connection, so the last call does not wait long. */
const CLOSE_LIMIT_MS = 1_000;
/** One less than the daemon's default limit, so that it continues to read pings. */
const MAX_CALLS_IN_FLIGHT = 4;

export type ConnectionLimits = {
  /** The time limit of calls without their own. The default is no limit. */
  callTimeoutMs?: number | undefined;
  /** Further calls wait. The default is 4, because a daemon reads at most five by default. */
  maxCallsInFlight?: number | undefined;
};

type Listener = (message: unknown) => void;

export class Connection {
  /** Resolves with the reason when the connection has ended. Never rejects. */
  readonly closed: Promise<Error>;
  readonly #socket: Socket;
  readonly #reader = new PacketReader();
  readonly #calls: Calls;
  readonly #streams = new Map<number, LibvirtStream>();
  /** Stream packets that arrived before the reply that opens them: the daemon sends in parallel. */
  readonly #early = new Map<number, Packet[]>();
  /** The streams whose full buffers stop reading. */
  readonly #pausing = new Set<number>();
  readonly #listeners = new Map<EventMessage<unknown>, Set<Listener>>();
  readonly #callTimeoutMs: number | undefined;
  #keepalive: Keepalive | undefined;
  #resolveClosed: (reason: Error) => void = () => undefined;
  /** Why no further call can be made. */
  #ended: Error | undefined;

  /** Takes a socket without traffic. `connect` opens sockets. */
  constructor(socket: Socket, limits: ConnectionLimits = {}) {
    this.#socket = socket;
    this.#callTimeoutMs = limits.callTimeoutMs;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#calls = new Calls({
      maxInFlight: limits.maxCallsInFlight ?? MAX_CALLS_IN_FLIGHT,
      send: (bytes) => socket.write(bytes),
      isTaken: (serial) => this.#streams.has(serial),
    });
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) =>
      this.#end(new ConnectionClosedError(error.message, { cause: error })),
    );
    socket.on('close', () => this.#end(new ConnectionClosedError('libvirt closed the connection')));
  }

  /** Calls a procedure of generated/procedures.ts. */
  call<Ret>(procedure: Procedure<void, Ret>, args?: undefined, options?: CallOptions): Promise<Ret>;
  call<Args, Ret>(procedure: Procedure<Args, Ret>, args: Args, options?: CallOptions): Promise<Ret>;
  async call<Args, Ret>(
    procedure: Procedure<Args, Ret>,
    args: Args,
    options?: CallOptions,
  ): Promise<Ret> {
    return this.#exchange({ procedure, args, options });
  }

  /** Makes a call that opens a stream. Returns the stream and the reply's content. */
  async openStream<Args, Ret>(
    procedure: StreamProcedure<Args, Ret>,
    args: Args,
    options: CallOptions & { readable: boolean; writable: boolean },
  ): Promise<{ ret: Ret; stream: LibvirtStream }> {
    return this.#exchange({
      procedure,
      args,
      options,
      // Created together with the reply, because its next packets may be in the same chunk.
      finish: (ret, { serial }) => {
        const stream = new LibvirtStream(this.#channel(procedure, serial), options);
        this.#streams.set(serial, stream);
        for (const packet of this.#early.get(serial) ?? []) stream.receive(packet);
        return { ret, stream };
      },
      // The call was cancelled, and the daemon would keep the stream open.
      readLate: ({ serial, status }) => {
        if (status !== STATUS.ok) return;
        this.#channel(procedure, serial).send({ status: STATUS.error, body: Buffer.alloc(0) });
      },
    });
  }

  /** Listens to every message of this kind. Returns a cancel function. */
  onMessage<Message>(
    event: EventMessage<Message>,
    listener: (message: Message) => void,
  ): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    const each: Listener = (message) => listener(message as Message);
    listeners.add(each);
    return () => void listeners.delete(each);
  }

  /** Pings a quiet daemon. If it does not reply, the connection is closed. */
  startKeepalive(options: KeepaliveOptions): void {
    this.#keepalive?.stop();
    const silence = `libvirt did not reply to ${options.count} pings in a row`;
    this.#keepalive = new Keepalive({
      ...options,
      ping: () => this.#socket.write(PING),
      dead: () => this.destroy(new ConnectionClosedError(silence)),
      isPaused: () => this.#pausing.size > 0,
    });
  }

  /**
   * Whether the daemon works on no call of this connection, not even on one that was given up. Also true
   * when the connection has ended.
   */
  get isQuiet(): boolean {
    return this.#ended !== undefined || this.#calls.isQuiet;
  }

  /** Resolves when the connection is quiet. */
  async quiet(): Promise<void> {
    if (!this.#ended) await this.#calls.quiet();
  }

  /**
   * Fails every waiting call, makes the closing call and closes the socket. Idempotent. Never
   * throws.
   */
  async close(): Promise<void> {
    if (this.#ended) return;
    const closed = new ConnectionClosedError('the connection was closed');
    this.#failAll(closed);
    const farewell = this.#exchange({
      procedure: connectClose,
      args: undefined,
      options: { timeoutMs: CLOSE_LIMIT_MS },
      urgent: true,
    });
    this.#ended = closed;
    await farewell.catch(() => undefined);
    this.destroy(closed);
  }

  /** Closes the socket at once, without the closing call. */
  destroy(reason: Error): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  async #exchange<Args, Ret, T = Ret>(request: {
    procedure: Procedure<Args, Ret>;
    args: Args;
    options: CallOptions | undefined;
    finish?: (ret: Ret, reply: Packet) => T;
    urgent?: boolean;
    readLate?: (reply: Packet) => void;
  }): Promise<T> {
    const { procedure, args, options, finish = (ret) => ret as unknown as T } = request;
    const { urgent = false, readLate } = request;
    if (this.#ended) throw this.#ended;
    const encoder = new XdrEncoder();
    procedure.args.write(encoder, args);
    const read = (reply: Packet) => finish(readReply(reply, procedure.ret), reply);
    const timeoutMs = options?.timeoutMs ?? this.#callTimeoutMs;
    return this.#calls.start(
      { target: procedure, body: encoder.bytes(), read, urgent, readLate },
      { timeoutMs, signal: options?.signal },
    );
  }

  #channel({ program, number }: Target, serial: number): StreamChannel {
    const header = { program, procedure: number, type: TYPE.stream, serial };
    return {
      send: (packet, sent) => this.#socket.write(encodePacket({ ...header, ...packet }), sent),
      pause: () => {
        this.#pausing.add(serial);
        this.#socket.pause();
      },
      resume: () => this.#resume(serial),
      release: () => {
        this.#streams.delete(serial);
        this.#resume(serial);
      },
    };
  }

  #resume(serial: number): void {
    if (this.#pausing.delete(serial) && this.#pausing.size === 0) this.#socket.resume();
  }

  #receive(chunk: Buffer): void {
    this.#keepalive?.heard();
    try {
      for (const packet of this.#reader.push(chunk)) this.#dispatch(packet);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new ProtocolError(String(error)));
    }
  }

  #dispatch(packet: Packet): void {
    if (packet.program === KEEPALIVE_PROGRAM) {
      const reply = replyToKeepalive(packet);
      if (reply) this.#socket.write(reply);
      return;
    }
    switch (packet.type) {
      case TYPE.reply:
        this.#calls.settle(packet);
        this.#early.delete(packet.serial);
        break;
      case TYPE.stream:
      case TYPE.streamHole:
        this.#receiveStream(packet);
        break;
      case TYPE.message:
        this.#deliver(packet);
        break;
      default:
        throw new ProtocolError(`a packet of the unknown type ${packet.type}`);
    }
  }

  /** Packets without a stream belong to one that has failed or was aborted. */
  #receiveStream(packet: Packet): void {
    const { serial } = packet;
    const stream = this.#streams.get(serial);
    if (stream) stream.receive(packet);
    else if (this.#calls.isWaiting(serial)) {
      this.#early.set(serial, [...(this.#early.get(serial) ?? []), packet]);
    }
  }

  #deliver(packet: Packet): void {
    for (const [event, listeners] of this.#listeners) {
      if (event.number !== packet.procedure || event.program !== packet.program) continue;
      if (listeners.size === 0) continue;
      const message = readBody(packet, event.message);
      for (const listener of listeners) {
        // An error in a listener must not close the connection.
        queueMicrotask(() => listeners.has(listener) && listener(message));
      }
    }
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    this.#keepalive?.stop();
    this.#failAll(this.#ended);
    this.#resolveClosed(this.#ended);
  }

  #failAll(reason: Error): void {
    this.#calls.failAll(reason);
    for (const stream of [...this.#streams.values()]) stream.fail(reason);
  }
}

function readReply<Ret>(packet: Packet, codec: Codec<Ret>): Ret {
  if (packet.status === STATUS.error) throw decodeLibvirtError(packet.body);
  if (packet.status !== STATUS.ok) throw new ProtocolError(`reply status ${packet.status}`);
  return readBody(packet, codec);
}

function readBody<T>(packet: Packet, codec: Pick<Codec<T>, 'read'>): T {
  const body = new XdrDecoder(packet.body);
  const value = codec.read(body);
  body.end();
  return value;
}
