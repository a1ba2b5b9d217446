/**
 * A stream of libvirt: bytes in packets with the serial number of the call that opened it.
 *
 * It ends in one of four ways:
 * - The daemon or the client sends the end of the data. The client then finishes the stream. The
 *   end is valid only after the daemon has confirmed it, because a write may fail until then.
 * - The daemon reports an error. The Duplex is destroyed with it.
 * - The client destroys the stream. The daemon aborts it.
 * - The connection ends. The stream fails with the same reason.
 *
 * The protocol has no flow control for a single stream. A stream that is not read blocks its whole
 * connection when its buffer is full, so give bulk transfers and consoles their own connection.
 */
import { Duplex } from 'node:stream';
import { decodeLibvirtError, ProtocolError } from './errors.ts';
import {
  NET_MESSAGE_LEGACY_PAYLOAD_MAX,
  NET_MESSAGE_TYPE,
  NET_MESSAGE_STATUS as STATUS,
} from './generated/constants.ts';
import type { Packet } from './packet.ts';

/** What a connection provides to one of its streams. */
export type StreamChannel = {
  send: (packet: { status: number; body: Buffer }, sent?: (error?: Error | null) => void) => void;
  /** Stops reading from the connection, because this stream's buffer is full. */
  pause: () => void;
  resume: () => void;
  /** No further packet is expected. */
  release: () => void;
};

const EMPTY = Buffer.alloc(0);
const BUFFERED_BYTES = 1024 * 1024;

export class LibvirtStream extends Duplex {
  readonly #channel: StreamChannel;
  #state: 'open' | 'finishing' | 'aborting' | 'over' = 'open';
  /** Called when the daemon has confirmed the end, or when the connection has ended. */
  #whenOver: ((error?: Error) => void)[] = [];
  readonly #readable: boolean;

  constructor(channel: StreamChannel, directions: { readable: boolean; writable: boolean }) {
    super({ ...directions, allowHalfOpen: false, highWaterMark: BUFFERED_BYTES });
    this.#channel = channel;
    this.#readable = directions.readable;
  }

  /** A packet of this stream arrived. */
  receive(packet: Packet): void {
    if (packet.status === STATUS.error) {
      this.fail(decodeLibvirtError(packet.body));
    } else if (packet.type === NET_MESSAGE_TYPE.streamHole) {
      this.destroy(new ProtocolError('unexpected hole in a stream'));
    } else if (packet.status === STATUS.ok) {
      this.#finishUp();
      if (this.#readable && !this.destroyed) this.push(null);
    } else if (packet.body.length === 0) {
      this.#finish();
    } else if (this.#state !== 'aborting' && !this.push(packet.body)) {
      this.#channel.pause();
    }
  }

  /** The stream has failed, or its connection has ended. */
  fail(reason: Error): void {
    this.#finishUp(reason);
    this.destroy(reason);
  }

  override _read(): void {
    this.#channel.resume();
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    const part = chunk.subarray(0, NET_MESSAGE_LEGACY_PAYLOAD_MAX);
    const rest = chunk.subarray(part.length);
    const next = (error?: Error | null) => {
      if (error || rest.length === 0) done(error);
      else this._write(rest, _encoding, done);
    };
    // The other end is closed. Later input is dropped, as on a terminal.
    if (this.#state !== 'open' || part.length === 0) done();
    else this.#channel.send({ status: STATUS.continue, body: part }, next);
  }

  override _final(done: (error?: Error) => void): void {
    this.#onOver(done);
    this.#finish();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#channel.resume();
    this.#onOver(() => done(error));
    if (this.#state === 'open' || this.#state === 'finishing') {
      this.#state = 'aborting';
      this.#channel.send({ status: STATUS.error, body: EMPTY });
    }
  }

  #finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'finishing';
    this.#channel.send({ status: STATUS.ok, body: EMPTY });
  }

  #onOver(listener: (error?: Error) => void): void {
    if (this.#state === 'over') listener();
    else this.#whenOver.push(listener);
  }

  #finishUp(error?: Error): void {
    this.#state = 'over';
    this.#channel.release();
    for (const listener of this.#whenOver.splice(0)) listener(error);
  }
}
