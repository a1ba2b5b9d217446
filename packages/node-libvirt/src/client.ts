/**
 * Keeps a connection to one daemon. From its first use until `close` there is at most one
 * connection and at most one attempt to make one. A connection that was lost, or an attempt that
 * failed, is followed by another attempt after a pause that grows; asking for the connection makes
 * one at once. Calls are never repeated: whether a lost one took effect only a look can tell.
 */
import { connect, type DriverOptions } from './connect.ts';
import type { Connection } from './connection.ts';
import { ConnectionClosedError } from './errors.ts';

const KEEPALIVE = { intervalMs: 5_000, count: 3 };
const BACKOFF = { firstMs: 200, maxMs: 10_000 };
/** A healthy daemon opens a driver in milliseconds, one that looks at its QEMUs first in seconds. */
const CONNECT_LIMIT_MS = 10_000;

export type ClientOptions = DriverOptions & {
  /** The pause after the first failure, doubled after each further one, up to `maxMs`. */
  backoff?: { firstMs: number; maxMs: number } | undefined;
  connectTimeoutMs?: number | undefined;
};

export type OnConnected = (connection: Connection) => void | Promise<void>;
export type OnDisconnected = (reason: Error) => void;

/**
 * Nothing happens before the first `connection()`. Keepalive is on unless `keepalive` says
 * otherwise: without it a daemon that hangs would not be noticed.
 */
export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

export class Client {
  readonly #options: ClientOptions;
  readonly #onConnected = new Set<OnConnected>();
  readonly #onDisconnected = new Set<OnDisconnected>();
  #current: Connection | undefined;
  #attempt: { promise: Promise<Connection>; abort: AbortController } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The connection there is, or a new one. Fails with the reason where the daemon is not reached. */
  connection(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new ConnectionClosedError('the client was closed'));
    if (this.#current) return Promise.resolve(this.#current);
    this.#attempt ??= this.#startAttempt();
    return this.#attempt.promise;
  }

  /**
   * Called with each new connection, and at once where there is one: the place to subscribe and to
   * look at what may have changed meanwhile. A listener that fails ends the connection, because
   * without its subscriptions the client would be blind; the next one comes after the pause.
   */
  onConnected(listener: OnConnected): () => void {
    this.#onConnected.add(listener);
    if (this.#current) void this.#greet(this.#current, [listener]);
    return () => void this.#onConnected.delete(listener);
  }

  /** Called when a connection is lost and when an attempt fails, not by `close`. */
  onDisconnected(listener: OnDisconnected): () => void {
    this.#onDisconnected.add(listener);
    return () => void this.#onDisconnected.delete(listener);
  }

  /** Ends it all. Never throws; may be repeated. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#attempt?.abort.abort(new ConnectionClosedError('the client was closed'));
    await this.#current?.close();
  }

  #startAttempt() {
    clearTimeout(this.#retry);
    const abort = new AbortController();
    const promise = this.#connect(abort).finally(() => {
      this.#attempt = undefined;
    });
    // Whoever asked hears of a failure; an attempt by the timer has nobody to tell.
    promise.catch(() => undefined);
    return { promise, abort };
  }

  async #connect(abort: AbortController): Promise<Connection> {
    const { connectTimeoutMs = CONNECT_LIMIT_MS, keepalive = KEEPALIVE } = this.#options;
    const late = `libvirt did not open a connection within ${connectTimeoutMs} ms`;
    const limit = setTimeout(() => abort.abort(new ConnectionClosedError(late)), connectTimeoutMs);
    try {
      const connection = await connect({ ...this.#options, keepalive, signal: abort.signal });
      this.#adopt(connection);
      return connection;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      this.#scheduleRetry(reason);
      throw reason;
    } finally {
      clearTimeout(limit);
    }
  }

  #adopt(connection: Connection): void {
    this.#current = connection;
    void connection.closed.then((reason) => {
      this.#current = undefined;
      this.#scheduleRetry(reason);
    });
    void this.#greet(connection, [...this.#onConnected]);
  }

  async #greet(connection: Connection, listeners: OnConnected[]): Promise<void> {
    try {
      for (const listener of listeners) await listener(connection);
      this.#failures = 0;
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #scheduleRetry(reason: Error): void {
    if (this.#closed) return;
    for (const listener of this.#onDisconnected) listener(reason);
    const { firstMs, maxMs } = this.#options.backoff ?? BACKOFF;
    const pauseMs = Math.min(maxMs, firstMs * 2 ** this.#failures);
    this.#failures += 1;
    // Many clients that lost the same daemon must not come back in one moment.
    const jittered = pauseMs * (0.5 + Math.random() / 2);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.connection().catch(() => undefined), jittered);
    // Trying again is no reason for a process to stay.
    this.#retry.unref();
  }
}
