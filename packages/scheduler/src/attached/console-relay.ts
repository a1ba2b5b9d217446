import type { Duplex } from 'node:stream';
import { status } from '@grpc/grpc-js';
import type { CallStatus } from '../fleet/grpc-status.ts';
import type { ConsoleCall } from '../fleet/grpc-types.ts';

/** The time within which the host must open a requested console. */
const OPEN_LIMIT_MS = 10_000;

export const HOST_LOST: CallStatus = {
  code: status.UNAVAILABLE,
  details: 'the host of the VM is unreachable',
};

type Opening = { id: string; vmId: string; api: ConsoleCall; onEnd: () => void };

/**
 * Relays one console through this process. First the api connects and waits, then the host joins, then
 * bytes pass in both directions until one side ends. Only a few messages are buffered: if one side
 * does not read, the other side is not read either.
 */
export class ConsoleRelay {
  readonly id: string;
  readonly vmId: string;
  readonly #api: ConsoleCall;
  readonly #onEnd: () => void;
  readonly #timer: NodeJS.Timeout;
  #agent: ConsoleCall | null = null;
  #ended = false;

  constructor({ id, vmId, api, onEnd }: Opening) {
    this.id = id;
    this.vmId = vmId;
    this.#api = api;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.end(HOST_LOST), OPEN_LIMIT_MS);
    api.once('cancelled', () => this.#finish());
    api.once('end', () => this.#finish());
  }

  /** Returns false if a host has joined already, or if the relay has ended. */
  join(agent: ConsoleCall): boolean {
    if (this.#agent || this.#ended) return false;
    clearTimeout(this.#timer);
    this.#agent = agent;
    agent.once('cancelled', () => this.end(HOST_LOST));
    agent.once('end', () => this.#finish());
    duplexOf(agent).pipe(duplexOf(this.#api));
    duplexOf(this.#api).pipe(duplexOf(agent));
    return true;
  }

  /** Ends the relay and sends the reason to the api. */
  end(why: CallStatus): void {
    if (this.#ended) return;
    this.#agent?.unpipe();
    this.#finish();
    this.#api.emit('error', why);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#agent?.end();
    this.#onEnd();
  }
}

/** A call is a Duplex, although its declared type lacks optional members of that class. */
const duplexOf = (call: ConsoleCall) => call as unknown as Duplex;
