/**
 * The calls of one connection that are waiting for their replies. Each carries a serial number, and
 * its reply finds it by that number, in any order.
 *
 * libvirt's daemon reads no further request of a client once five are under way
 * (max_client_requests in libvirtd.conf), not even a keepalive's ping. So calls beyond
 * `maxInFlight` wait here instead of in the daemon's socket. A call that was given up still takes
 * its place until the daemon has answered it.
 */
import { CallTimeoutError, ProtocolError } from './errors.ts';
import { NET_MESSAGE_STATUS, NET_MESSAGE_TYPE } from './generated/constants.ts';
import { encodePacket, type Packet } from './packet.ts';

export type CallOptions = {
  /** Counted from the call, the time in the queue included. */
  timeoutMs?: number | undefined;
  /** Gives the call up; the daemon goes on with it. */
  signal?: AbortSignal | undefined;
};

/** What identifies a call on the wire. */
export type Target = { name: string; program: number; number: number };

export type Request<T> = {
  target: Target;
  body: Buffer;
  /** Runs with the reply's arrival, before any later packet is looked at. */
  read: (reply: Packet) => T;
  /** Does not wait behind others. */
  urgent?: boolean;
  /** Takes the reply that comes after the call was given up. */
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
  /** With those that were given up: the daemon is still at them. */
  readonly #inFlight = new Map<number, Call>();
  readonly #options: {
    maxInFlight: number;
    send: (bytes: Buffer) => void;
    isTaken: (serial: number) => boolean;
  };
  #lastSerial = 0;

  /** `isTaken` tells of serials that are in use elsewhere, by streams. */
  constructor(options: {
    maxInFlight: number;
    send: (bytes: Buffer) => void;
    isTaken: (serial: number) => boolean;
  }) {
    this.#options = options;
  }

  /** Resolves with what `read` makes of the reply. */
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
        const late = `libvirt did not answer ${target.name} within ${timeoutMs} ms`;
        timer = setTimeout(() => giveUp(new CallTimeoutError(late)), timeoutMs);
      }
      if (urgent) return this.#send(call);
      this.#queue.add(call);
      this.#sendQueued();
    });
  }

  /** Whether somebody waits for the reply to this call. */
  isWaiting(serial: number): boolean {
    return this.#inFlight.get(serial)?.givenUp === false;
  }

  settle(reply: Packet): void {
    const { serial } = reply;
    const call = this.#inFlight.get(serial);
    if (!call) throw new ProtocolError(`a reply to call ${serial}, which nobody made`);
    if (reply.procedure !== call.target.number || reply.program !== call.target.program) {
      throw new ProtocolError(`call ${serial} was answered by a packet of another kind`);
    }
    this.#inFlight.delete(serial);
    if (call.givenUp) call.readLate?.(reply);
    else call.settle(reply);
    this.#sendQueued();
  }

  /** Replies may still come, and are dropped. */
  failAll(reason: Error): void {
    const calls = [...this.#inFlight.values(), ...this.#queue];
    this.#queue.clear();
    for (const call of calls) {
      call.givenUp = true;
      call.fail(reason);
    }
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
