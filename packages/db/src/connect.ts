import postgres from 'postgres';
import { type IsWaiting, Sockets, type Target } from './sockets.ts';
import { ARRAY_TYPES } from './text-arrays.ts';

/** A pool. Statements are tagged templates, prepared once per connection. */
export type Sql = postgres.Sql;
/** The pool or an open transaction. */
export type Queryable = postgres.ISql;
export type Transaction = postgres.TransactionSql;

export type ConnectOptions = {
  url: string;
  name: string;
  maxConnections?: number;
  /** How long a statement may take. Zero: as long as it needs, also if it waits for a lock. */
  statementLimitMs?: number;
  /**
   * Whether PostgreSQL plans each statement once per session instead of once per call. It is meant for
   * statements that find rows by key, whatever the keys are, and that run many times a second.
   */
  plansOnce?: boolean;
  /** How long an attempt to connect may take. */
  connectLimitS?: number;
  /** The sockets of the pool are among these, so that their owner can close silent ones. */
  sockets?: Sockets;
};

/** Much longer than any statement of a request or a loop takes, and shorter than clients wait. */
const STATEMENT_LIMIT_MS = 10_000;
/** The server ends a statement itself. If its reply is this late, the session hangs. */
const REPLY_GRACE_MS = 1_000;
/** Longer than it takes to end the transaction of a process that stopped: see `transact`. */
const LOCK_LIMIT_MS = 8_000;
/** Includes TLS and the login. An attempt without a reply is repeated, perhaps with another server. */
const CONNECT_LIMIT_S = 3;
/** A restarted server is found this soon. A server that is down refuses attempts at little cost. */
const RECONNECT_S = 0.05;
const KEEPALIVE_S = 5;

/**
 * Settings of the session that let the server notice that this process is gone without a reset, end the
 * transaction and release its locks. PgBouncer refuses them unless it is told to ignore them: see
 * docs/operators/database.md.
 */
const SERVER_SIDE = {
  tcp_keepalives_idle: KEEPALIVE_S,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
  // A statement whose client is gone is cancelled.
  client_connection_check_interval: 5_000,
};

export function connect({
  url,
  name,
  maxConnections = 10,
  statementLimitMs = STATEMENT_LIMIT_MS,
  plansOnce = false,
  connectLimitS = CONNECT_LIMIT_S,
  sockets = new Sockets(),
}: ConnectOptions): Sql {
  const limitMs =
    statementLimitMs === 0 ? Number.POSITIVE_INFINITY : statementLimitMs + REPLY_GRACE_MS;
  const options = {
    max: maxConnections,
    connection: {
      application_name: name,
      // Times in JSON are in the session's time zone.
      TimeZone: 'UTC',
      // The driver leaves out zeros, and zero is the server's default.
      statement_timeout: statementLimitMs,
      lock_timeout: Math.min(LOCK_LIMIT_MS, statementLimitMs),
      idle_in_transaction_session_timeout: statementLimitMs,
      ...(plansOnce ? { plan_cache_mode: 'force_generic_plan' } : {}),
      ...SERVER_SIDE,
    },
    onnotice: () => {},
    connect_timeout: connectLimitS,
    // Random, so that the connections of many processes do not return together.
    backoff: () => RECONNECT_S * (1 + Math.random()),
    keep_alive: KEEPALIVE_S,
    fetch_types: false,
    types: ARRAY_TYPES,
    socket: (target: Target, isWaiting: IsWaiting) => sockets.open(target, { isWaiting, limitMs }),
  };
  return postgres(url, options);
}
