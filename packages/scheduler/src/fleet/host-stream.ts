import type { Log } from '@gantry/daemon/log';
import type { HostIdentity } from '@gantry/pki/host-identity';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { status } from '@grpc/grpc-js';
import type { CallStatus } from './grpc-status.ts';
import type { AttachCall } from './grpc-types.ts';
import { type OutgoingSpec, toMessages, toWholeSpec } from './outgoing-spec.ts';

/** The interface of a host's stream for the rest of the scheduler. */
export type HostStream = {
  readonly hostId: string;
  readonly certificateSerial: string;
  /** Whether the agent takes specs in pieces, and the VMs of its networks apart from them. */
  readonly takesPieces: boolean;
  /** A spec is complete: an unsent spec is replaced by a newer one. */
  send(spec: OutgoingSpec): void;
  /**
   * Sends the consoles without the spec. Returns false if that is impossible, because the host has not
   * got a spec yet, or its agent does not take specs in pieces.
   */
  sendConsoles(consoles: OutgoingSpec['consoles']): boolean;
  /** Sends a message that is encoded already, because it is the same for many hosts. */
  sendEncoded(message: Buffer): void;
  abort(reason: string): void;
};

export type StreamHandlers = {
  attached(stream: HostStream): void | Promise<void>;
  /** Called after `attached`. Reports are read after it resolves. */
  readable(stream: HostStream): void | Promise<void>;
  report(stream: HostStream, report: HostReport__Output): void;
  /** Called once, after `attached` has resolved. `readable` may still be pending. */
  ended(stream: HostStream): void;
};

/** A call counts messages, not bytes. A host that is so far behind attaches again and gets the present state. */
const MAX_WAITING_MESSAGES = 64;

type Written = Omit<OutgoingSpec, 'parts' | 'consoles'> & { hashes: string[] };

type Opening = {
  call: AttachCall;
  identity: HostIdentity;
  handlers: StreamHandlers;
  log: Log;
  onEnd: (stream: LiveStream) => void;
};

/**
 * One host's stream. It is opening while `attached` runs, then open, then ended. A process may have ten
 * thousand of them, so a stream has no timer and keeps at most one spec besides the one being written.
 */
export class LiveStream implements HostStream {
  readonly hostId: string;
  readonly certificateSerial: string;
  readonly expiresAtMs: number;
  readonly #call: AttachCall;
  readonly #handlers: StreamHandlers;
  readonly #log: Log;
  readonly #onEnd: (stream: LiveStream) => void;
  #ended = false;
  #open = false;
  #writing = false;
  #unsent: OutgoingSpec | undefined;
  /** The hash of the spec whose pieces the agent had when the stream began. Null: it takes no pieces. */
  readonly #heldAtFirst: string | null;
  /** The last spec that was written, without its content: the agent has the parts with these hashes. */
  #written: Written | undefined;

  constructor({ call, identity, handlers, log, onEnd }: Opening) {
    this.hostId = identity.hostId;
    this.certificateSerial = identity.serial;
    this.expiresAtMs = identity.notAfter.getTime();
    this.#call = call;
    this.#handlers = handlers;
    this.#log = log;
    this.#onEnd = onEnd;
    const [held] = call.metadata.get('gantry-pieces');
    this.#heldAtFirst = held === undefined ? null : String(held);
    call.once('cancelled', () => this.#finish());
    call.once('error', () => this.#finish());
  }

  get takesPieces(): boolean {
    return this.#heldAtFirst !== null;
  }

  get isOpen(): boolean {
    return this.#open && !this.#ended;
  }

  /** Reads nothing before `readable` has resolved: reports wait in the buffers of the network. */
  async open(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.#handlers.attached(this);
    } catch (error) {
      this.#log.error({ error, host_id: this.hostId }, 'host not attached');
      this.end({ code: status.UNAVAILABLE, details: 'this scheduler cannot attach the host now' });
    }
    this.#open = true;
    if (this.#ended) {
      this.#tellEnded();
      return;
    }
    await this.#handlers.readable(this);
    if (this.#ended) return;
    this.#call.on('data', (report: HostReport__Output) => this.#receive(report));
    this.#call.once('end', () => this.end({ code: status.OK, details: '' }));
  }

  send(spec: OutgoingSpec): void {
    if (this.#ended) return;
    if (this.#writing) this.#unsent = spec;
    else this.#write(spec);
  }

  sendConsoles(consoles: OutgoingSpec['consoles']): boolean {
    if (this.#heldAtFirst === null) return false;
    if (this.#unsent) this.#unsent = { ...this.#unsent, consoles };
    else if (this.#written && !this.#ended) {
      const { id, hashes, ...others } = this.#written;
      this.#call.write({ ...id, pieceHashes: hashes, consoles, ...others });
    } else return false;
    return true;
  }

  sendEncoded(message: Buffer): void {
    if (this.#ended) return;
    if (this.#call.writableLength > MAX_WAITING_MESSAGES) this.abort('the host does not read');
    // The service passes a Buffer on as it is.
    else this.#call.write(message as unknown as HostSpec);
  }

  abort(reason: string): void {
    this.end({ code: status.ABORTED, details: reason });
  }

  end({ code, details }: CallStatus): void {
    if (this.#ended) return;
    this.#finish();
    if (code === status.OK) this.#call.end();
    else this.#call.emit('error', { code, details });
  }

  #write(spec: OutgoingSpec): void {
    this.#writing = true;
    const messages = this.#messagesFor(spec);
    let unwritten = messages.length;
    // Called when flow control has accepted the whole message.
    const written = () => {
      unwritten -= 1;
      if (unwritten > 0) return;
      this.#writing = false;
      const next = this.#unsent;
      this.#unsent = undefined;
      if (next && !this.#ended) this.#write(next);
    };
    for (const message of messages) this.#call.write(message, written);
  }

  #messagesFor(spec: OutgoingSpec): HostSpec[] {
    if (this.#heldAtFirst === null) return [toWholeSpec(spec)];
    const { parts, consoles: _, ...ofSpec } = spec;
    const hashes = parts.map(({ hash }) => hash);
    const isHeld = !this.#written && this.#heldAtFirst === spec.id.hash;
    const held = new Set(isHeld ? hashes : this.#written?.hashes);
    this.#written = { ...ofSpec, hashes };
    return toMessages(spec, held);
  }

  #receive(report: HostReport__Output): void {
    if (this.#ended) return;
    try {
      this.#handlers.report(this, report);
    } catch (error) {
      this.#log.error({ error, host_id: this.hostId }, 'report not accepted');
      this.abort('the scheduler failed to accept the report');
    }
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unsent = undefined;
    this.#onEnd(this);
    if (this.#open) this.#tellEnded();
  }

  #tellEnded(): void {
    try {
      this.#handlers.ended(this);
    } catch (error) {
      this.#log.error({ error, host_id: this.hostId }, 'end of stream not recorded');
    }
  }
}
