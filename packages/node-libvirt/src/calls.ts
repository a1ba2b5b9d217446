/**
 * The calls of one connection that wait for their replies. Each has a serial number, and replies
 * are matched by that number, in any order.
 *
 * libvirt's daemon stops reading requests of a client, even keepalive pings, while five are in
 * progress (max_client_requests in libvirtd.conf). So calls beyond `maxInFlight` wait here instead
 * of in the daemon's socket. A cancelled call keeps its slot until the daemon has replied to it.
 */
import { CallTimeoutError, ProtocolError } from './errors.ts';
import { NET_MESSAGE_STATUS, NET_MESSAGE_TYPE } from './generated/constants.ts';
import { encodePacket, type Packet } from './packet.ts';

export type CallOptions = {
  /** Measured from the call, including the time in the queue. */
  timeoutMs?: number | undefined;
  /** Cancels the call. The daemon continues with it. */
  signal?: AbortSignal | undefined;
};

/** What identifies a call on the wire. */
export type Target = { name: string; program: number; number: number };

export type Request<T> = {
  target: Target;
  body: Buffer;
  /** Called when the reply arrives, before any later packet is read. */
  read: (reply: Packet) => T;
  /** Skips the queue. */
  urgent?: boolean;
  /** Called with a reply that arrives after the call was cancelled. */
  readLate?: ((reply: Packet) => void) | undefined;
};

type Call = {
  target: Target;
  body: Buffer;
  settle: (reply: Packet) => void;
  fail: (error: Error) => void;
  readLate: ((reply: Packet) => void) | undefined;
  givenUp: boolean;
};

export class Calls {
  readonly #queue = new Set<Call>();
  /** Includes cancelled calls, because the daemon still works on them. */
  readonly #inFlight = new Map<number, Call>();
  readonly #options: {
    maxInFlight: number;
    send: (bytes: Buffer) => void;
    isTaken: (serial: number) => boolean;
  };
  readonly #whenQuiet: (() => void)[] = [];
  #lastSerial = 0;

  /** `isTaken` returns whether a stream uses a serial number. */
  constructor(options: {
    maxInFlight: number;
    send: (bytes: Buffer) => void;
    isTaken: (serial: number) => boolean;
  }) {
    this.#options = options;
  }

  /** Resolves with the result of `read` for the reply. */
  start<T>(request: Request<T>, options: CallOptions): Promise<T> {
    const { target, body, read, urgent, readLate } = request;
    const { timeoutMs, signal } = options;
    return new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      let timer: NodeJS.Timeout | undefined;
      const release = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const call: Call = {
        target,
        body,
        readLate,
        givenUp: false,
        settle: (reply) => {
          release();
          try {
            resolve(read(reply));
          } catch (error) {
            reject(error);
          }
        },
        fail: (error) => {
          release();
          reject(error);
        },
      };
      const giveUp = (reason: Error) => {
        this.#queue.delete(call);
        call.givenUp = true;
        call.fail(reason);
      };
      const abort = () => giveUp(signal?.reason);
      signal?.addEventListener('abort', abort);
      if (timeoutMs !== undefined) {
        const late = `libvirt did not reply to ${target.name} within ${timeoutMs} ms`;
        timer = setTimeout(() => giveUp(new CallTimeoutError(late)), timeoutMs);
      }
      if (urgent) return this.#send(call);
      this.#queue.add(call);
      this.#sendQueued();
    });
  }

  /** Whether the daemon has replied to every call, also to those that were cancelled. */
  get isQuiet(): boolean {
    return this.#inFlight.size === 0;
  }

  async quiet(): Promise<void> {
    if (this.isQuiet) return;
    await new Promise<void>((resolve) => this.#whenQuiet.push(resolve));
  }

  /** Whether a call with this serial number waits for its reply. */
  isWaiting(serial: number): boolean {
    return this.#inFlight.get(serial)?.givenUp === false;
  }

  settle(reply: Packet): void {
    const { serial } = reply;
    const call = this.#inFlight.get(serial);
    if (!call) throw new ProtocolError(`a reply to call ${serial}, which was never made`);
    if (reply.procedure !== call.target.number || reply.program !== call.target.program) {
      throw new ProtocolError(`the reply to call ${serial} is a packet of the wrong type`);
    }
    this.#inFlight.delete(serial);
    if (call.givenUp) call.readLate?.(reply);
    else call.settle(reply);
    this.#sendQueued();
    if (this.isQuiet) this.#tellQuiet();
  }

  /** Replies that still arrive are dropped. */
  failAll(reason: Error): void {
    const calls = [...this.#inFlight.values(), ...this.#queue];
    this.#queue.clear();
    for (const call of calls) {
      call.givenUp = true;
      call.fail(reason);
    }
    this.#tellQuiet();
  }

  #tellQuiet(): void {
    for (const resolve of this.#whenQuiet.splice(0)) resolve();
  }

  #sendQueued(): void {
    for (const call of this.#queue) {
      if (this.#inFlight.size >= this.#options.maxInFlight) return;
      this.#queue.delete(call);
      this.#send(call);
    }
  }

  #send(call: Call): void {
    const serial = this.#nextSerial();
    const { program, number: procedure } = call.target;
    const header = { type: NET_MESSAGE_TYPE.call, status: NET_MESSAGE_STATUS.ok };
    try {
      const bytes = encodePacket({ ...header, program, procedure, serial, body: call.body });
      this.#inFlight.set(serial, call);
      this.#options.send(bytes);
    } catch (error) {
      call.fail(error instanceof Error ? error : new ProtocolError(String(error)));
    }
  }

  #nextSerial(): number {
    do this.#lastSerial = (this.#lastSerial % 0xffff_ffff) + 1;
    while (this.#inFlight.has(this.#lastSerial) || this.#options.isTaken(this.#lastSerial));
    return this.#lastSerial;
  }
}
