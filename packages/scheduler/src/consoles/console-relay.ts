import type { Duplex } from 'node:stream';
import { status } from '@grpc/grpc-js';
import type { CallStatus } from '../fleet/grpc-status.ts';
import type { ConsoleCall } from '../fleet/grpc-types.ts';

/** How long a host has to open a console that it was asked for. */
const OPEN_LIMIT_MS = 10_000;

export const HOST_LOST: CallStatus = {
  code: status.UNAVAILABLE,
  details: 'the host of the VM is not heard from',
};

type Opening = { id: string; vmId: string; api: ConsoleCall; onEnd: () => void };

/**
 * One console on its way through this process: first an api waits, then the host joins, then bytes
 * pass until either ends. Nothing is kept but what the two streams hold, which is a few messages: who
 * does not read is not read for.
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

  /** False where the host is here already, or came too late. */
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

  /** With a reason for whoever waits at the api. */
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

/** Which it is: its declared type lacks members that an optional setting adds. */
const duplexOf = (call: ConsoleCall) => call as unknown as Duplex;
