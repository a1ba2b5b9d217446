/**
 * Keeps a connection to one daemon. From its first use until `close` there is at most one
 * connection and at most one attempt to open one. After a lost connection or a failed attempt the
 * client tries again with backoff; a call of `connection` tries at once. Calls are never retried,
 * because the client cannot know whether a lost call took effect.
 */
import { connect, type DriverOptions } from './connect.ts';
import type { Connection } from './connection.ts';
import { ConnectionClosedError } from './errors.ts';

const KEEPALIVE = { intervalMs: 5_000, count: 3 };
const BACKOFF = { firstMs: 200, maxMs: 10_000 };
/** A healthy daemon opens a driver in milliseconds, or in seconds if it first probes QEMU. */
const CONNECT_LIMIT_MS = 10_000;

export type ClientOptions = DriverOptions & {
  /** The pause after the first failure, doubled after each further one, up to `maxMs`. */
  backoff?: { firstMs: number; maxMs: number } | undefined;
  connectTimeoutMs?: number | undefined;
};

export type OnConnected = (connection: Connection) => void | Promise<void>;
export type OnDisconnected = (reason: Error) => void;

/**
 * The client connects at the first `connection()`. Keepalive is on by default, because a daemon
 * that hangs would not be noticed without it.
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

  /** Returns the open connection or a new one. Throws if the daemon cannot be reached. */
  connection(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new ConnectionClosedError('the client was closed'));
    if (this.#current) return Promise.resolve(this.#current);
    this.#attempt ??= this.#startAttempt();
    return this.#attempt.promise;
  }

  /**
   * Calls the listener with each new connection, and at once if one is open. Use it to subscribe
   * and to read what may have changed in the meantime. If a listener throws, the connection is
   * closed, because its subscriptions are missing, and another one is opened after a pause.
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

  /** Closes the connection and stops all attempts. Idempotent. Never throws. */
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
    // Callers get the error. An attempt by the timer has no caller.
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
    // Jitter: many clients that lost the same daemon must not reconnect at once.
    const jittered = pauseMs * (0.5 + Math.random() / 2);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.connection().catch(() => undefined), jittered);
    // The timer must not keep the process alive.
    this.#retry.unref();
  }
}
