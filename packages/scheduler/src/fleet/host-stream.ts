import type { Log } from '@gantry/daemon/log';
import type { HostIdentity } from '@gantry/pki/host-identity';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { status } from '@grpc/grpc-js';
import type { CallStatus } from './grpc-status.ts';
import type { AttachCall } from './grpc-types.ts';

/** The interface of a host's stream for the rest of the scheduler. */
export type HostStream = {
  readonly hostId: string;
  readonly certificateSerial: string;
  /** A spec is complete: an unsent spec is replaced by a newer one. */
  send(spec: HostSpec): void;
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
  #unsent: HostSpec | undefined;

  constructor({ call, identity, handlers, log, onEnd }: Opening) {
    this.hostId = identity.hostId;
    this.certificateSerial = identity.serial;
    this.expiresAtMs = identity.notAfter.getTime();
    this.#call = call;
    this.#handlers = handlers;
    this.#log = log;
    this.#onEnd = onEnd;
    call.once('cancelled', () => this.#finish());
    call.once('error', () => this.#finish());
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

  send(spec: HostSpec): void {
    if (this.#ended) return;
    if (this.#writing) this.#unsent = spec;
    else this.#write(spec);
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

  #write(spec: HostSpec): void {
    this.#writing = true;
    // Called when flow control has accepted the whole message.
    this.#call.write(spec, () => {
      this.#writing = false;
      const next = this.#unsent;
      this.#unsent = undefined;
      if (next && !this.#ended) this.#write(next);
    });
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
