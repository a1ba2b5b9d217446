import type { Connection } from 'node-libvirt/connection';
import { CallTimeoutError } from 'node-libvirt/errors';
import type { Clock } from '../../base/clock.ts';
import { HostFailure } from '../../base/failure.ts';

/**
 * Connections to libvirt for the calls about single domains.
 *
 * libvirt locks a domain while it kills the domain's process, and a call that needs a QEMU monitor waits
 * until QEMU replies. Such a call can take minutes or never end, and libvirt serves only five calls of a
 * connection at a time. So each domain has its own connections, opened when they are needed: one for
 * reading, one for changing and one for ending it. A domain that does not reply delays only itself.
 *
 * While a call waits for a locked domain, libvirt can define and undefine no other domain (it holds the lock
 * of its list of domains meanwhile). So no other call about a domain is made while it is being ended.
 *
 * A call that was given up stays in progress in libvirt. Until libvirt replies to it, the line is silent:
 * further calls on it fail at once instead of occupying one more of libvirt's workers each.
 */
export class DomainLines {
  readonly #options: DomainLinesOptions;
  readonly #lines = new Map<string, Record<Lane, Line>>();

  constructor(options: DomainLinesOptions) {
    this.#options = options;
  }

  /**
   * Calls about one domain in one lane run one after another. Calls to read or change a domain wait until
   * it has been ended.
   */
  async run<T>(vmId: string, lane: Lane, work: (connection: Connection) => Promise<T>): Promise<T> {
    const lines = this.#linesOf(vmId);
    if (lane !== 'end') await lines.end.idle();
    return await lines[lane].run(work);
  }

  /** Whether libvirt is changing or ending the domain. */
  isChanging(vmId: string): boolean {
    const lines = this.#lines.get(vmId);
    return lines !== undefined && (lines.change.isBusy || lines.end.isBusy);
  }

  /** Why the domain counts as unresponsive; null if it replies. */
  silenceOf(vmId: string): Silence | null {
    const lines = Object.values(this.#lines.get(vmId) ?? {});
    return lines.map(({ silence }) => silence).find((silence) => silence !== null) ?? null;
  }

  close(): void {
    for (const lines of this.#lines.values()) for (const line of Object.values(lines)) line.close();
    this.#lines.clear();
  }

  #linesOf(vmId: string): Record<Lane, Line> {
    const known = this.#lines.get(vmId);
    if (known) return known;
    const line = () =>
      new Line(this.#options, vmId, () => {
        if (Object.values(lines).every(({ isOpen }) => !isOpen)) this.#lines.delete(vmId);
      });
    const lines = { read: line(), change: line(), end: line() };
    this.#lines.set(vmId, lines);
    return lines;
  }
}

export type Lane = 'read' | 'change' | 'end';

/** Since when a domain has not replied, and to what. */
export type Silence = { message: string; sinceMs: number };

export type DomainLinesOptions = {
  /** Opens a connection. Throws a HostFailure if libvirt does not reply. */
  connect(): Promise<Connection>;
  /** Throws a HostFailure if libvirt does not reply to a call that needs no domain. */
  requireReply(): Promise<void>;
  clock: Clock;
  fellSilent(vmId: string): void;
  repliesAgain(vmId: string): void;
};

/** Thrown for a domain that does not reply. Nothing is known about its present state. */
const UNRESPONSIVE = 'vm_unresponsive';

export function isUnresponsive(error: unknown): boolean {
  return error instanceof HostFailure && error.code === UNRESPONSIVE;
}

/** A connection without calls is closed after this time: an agent at rest keeps none open. */
const IDLE_MS = 30_000;

class Line {
  readonly #options: DomainLinesOptions;
  readonly #vmId: string;
  readonly #closed: () => void;
  #connection: Connection | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #silence: Silence | null = null;
  #cancelIdle: (() => void) | null = null;

  constructor(options: DomainLinesOptions, vmId: string, closed: () => void) {
    this.#options = options;
    this.#vmId = vmId;
    this.#closed = closed;
  }

  get silence(): Silence | null {
    return this.#silence;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  get isOpen(): boolean {
    return this.#connection !== null || this.isBusy;
  }

  /** Returns when no call is in progress. Throws if one was given up. */
  async idle(): Promise<void> {
    while (this.isBusy) await this.#last;
    if (this.#silence) throw new HostFailure(UNRESPONSIVE, this.#silence.message);
  }

  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#cancelIdle?.();
    this.#waiting += 1;
    const mine = this.#last.then(() => this.#work(work));
    this.#last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && this.#silence === null) this.#closeWhenIdle();
    }
  }

  close(): void {
    this.#cancelIdle?.();
    void this.#connection?.close();
    this.#connection = null;
  }

  async #work<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#silence) throw new HostFailure(UNRESPONSIVE, this.#silence.message);
    const connection = await this.#open();
    try {
      const result = await work(connection);
      // What it gave up on the way was not needed, so the next call does not wait for it.
      if (!connection.isQuiet) this.close();
      return result;
    } catch (error) {
      if (connection.isQuiet) throw error;
      return await this.#giveUp(connection, error);
    }
  }

  /** A call is unanswered: either libvirt hangs as a whole, or the domain does. */
  async #giveUp(connection: Connection, error: unknown): Promise<never> {
    try {
      await this.#options.requireReply();
    } catch (failure) {
      this.close();
      throw failure;
    }
    const { clock, fellSilent } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `VM ${this.#vmId} is unresponsive: ${reason}`;
    if (connection.isQuiet) throw error;
    this.#silence = { message, sinceMs: clock.nowMs() };
    fellSilent(this.#vmId);
    void connection.quiet().then(() => this.#replies());
    if (!(error instanceof CallTimeoutError)) throw error;
    throw new HostFailure(UNRESPONSIVE, message, { cause: error });
  }

  #replies(): void {
    this.#silence = null;
    this.#options.repliesAgain(this.#vmId);
    if (this.#waiting === 0) this.#closeWhenIdle();
  }

  async #open(): Promise<Connection> {
    if (this.#connection) return this.#connection;
    const connection = await this.#options.connect();
    this.#connection = connection;
    void connection.closed.then(() => {
      if (this.#connection === connection) this.#connection = null;
    });
    return connection;
  }

  #closeWhenIdle(): void {
    this.#cancelIdle?.();
    const timer = setTimeout(() => {
      this.close();
      this.#closed();
    }, IDLE_MS);
    // The timer must not keep the process alive.
    timer.unref();
    this.#cancelIdle = () => clearTimeout(timer);
  }
}
