import type { Socket } from 'node:net';
import type { Sql } from './connect.ts';
import { close, type Sockets } from './sockets.ts';

/**
 * Watches the database for a process: whether it replies, and what time it is there.
 *
 * A connection of its own asks the database for the time once a second. If there is no reply within
 * 2.5 s, the server or the network has disappeared without a reset: every connection on which nothing
 * has arrived since the question is closed, and its statements fail instead of waiting for ever.
 *
 * One session may hang while the others work. If a statement has waited for 2 s and its session has
 * not even begun it, only its own connection is closed. A session that hangs in the middle of a
 * statement looks like a slow one, so its connection is closed after the limit of a statement.
 *
 * Decisions depend on three facts that this gives:
 * - The time of the database. All processes agree on it, whatever their own clocks show.
 * - Whether the clock of this process is wrong. Then the process must not serve, because certificates,
 *   tokens and ids are made and checked with it.
 * - For how long the database has replied without an interruption. A process whose database was away
 *   cannot know who else was silent, so it must not judge anyone before that time has passed again.
 */
export type DatabaseWatch = {
  /** The time of the database: that of its last reply, and the time that has passed since. */
  nowMs(): number;
  /** Why this process must not serve; null if its clock is right. */
  clockProblem(): string | null;
  /**
   * For how long the database has replied without an interruption, and both clocks were right. Zero
   * if it does not reply now.
   */
  steadyMs(): number;
  stop(): void;
};

type Log = Record<'info' | 'warn', (fields: object, message: string) => void>;

type WatchOptions = {
  /** A pool with one connection that nothing else uses. */
  probe: Sql;
  /** The sockets of the probe and of the pools that are watched. */
  sockets: Sockets;
  log: Log;
  /** The clock of the process. Tests give another one. */
  processNowMs?: () => number;
  /** Called with the time that the database took to reply. */
  onProbe?: (seconds: number) => void;
};

/** A process whose clock differs more than this from the database's must not serve. */
const CLOCK_LIMIT_MS = 5_000;
/** If the clock of the database is set by more than this, ages by that clock are wrong for a while. */
const JUMP_MS = 500;
const TICK_MS = 250;
/** A session that has not begun a statement after this time hangs. */
const BEGIN_LIMIT_MS = 2_000;
const PROBE_EVERY_TICKS = 4;
const PROBE_LIMIT_TICKS = 10;
/** A longer pause between two ticks means that the whole process was paused. */
const PAUSE_MS = 2_000;

/** Resolves after the first reply or its absence. */
export async function watchDatabase({
  probe,
  sockets,
  log,
  processNowMs = Date.now,
  onProbe = () => {},
}: WatchOptions): Promise<DatabaseWatch> {
  let steadySince: number | null = null;
  let isLost = false;
  let reply = { databaseMs: processNowMs(), at: performance.now() };
  let problem: string | null = null;
  let asked: { ticks: number; closeSilent: () => number } | null = null;
  let restTicks = 0;
  let tickedAt = performance.now();

  const interrupt = (fields: object, message: string) => {
    if (!isLost) log.warn(fields, message);
    isLost = true;
    steadySince = null;
  };

  const compareClocks = (databaseMs: number, roundTripMs: number) => {
    const aheadMs = processNowMs() - databaseMs;
    const isWrong = Math.abs(aheadMs) - roundTripMs / 2 > CLOCK_LIMIT_MS;
    const fields = { ahead_ms: Math.round(aheadMs) };
    if (isWrong && problem === null)
      log.warn(fields, 'clock differs from the clock of the database; refusing to serve');
    if (!isWrong && problem !== null) log.info(fields, 'clock is right again; serving');
    problem = isWrong ? describeClock(aheadMs) : null;
  };

  const ask = async () => {
    asked = { ticks: 0, closeSilent: sockets.mark() };
    const sentAt = performance.now();
    try {
      const [row] = await probe<{ now_ms: number }[]>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
      const at = performance.now();
      onProbe((at - sentAt) / 1_000);
      const databaseMs = (row?.now_ms ?? 0) + (at - sentAt) / 2;
      if (isLost) log.info({}, 'database replies again');
      isLost = false;
      const jumpMs = Math.abs(databaseMs - reply.databaseMs - (at - reply.at)) - (at - sentAt);
      reply = { databaseMs, at };
      compareClocks(databaseMs, at - sentAt);
      if (problem !== null) steadySince = null;
      else if (jumpMs > JUMP_MS) steadySince = sentAt;
      else steadySince ??= sentAt;
      const hung = await closeHungSessions(probe, sockets.waiting(BEGIN_LIMIT_MS));
      if (hung > 0) log.warn({ connections: hung }, HUNG);
    } catch (error) {
      interrupt({ error }, 'database not reachable');
    }
    asked = null;
    restTicks = isLost ? 0 : PROBE_EVERY_TICKS;
  };

  const tick = () => {
    const pausedMs = performance.now() - tickedAt - TICK_MS;
    tickedAt = performance.now();
    // Others may have waited for this process, and judged it, in the meantime.
    if (pausedMs > PAUSE_MS && steadySince !== null) steadySince = tickedAt;
    const hung = sockets.tick(TICK_MS);
    if (hung > 0) log.warn({ connections: hung }, HUNG);
    if (asked === null) {
      restTicks -= 1;
      if (restTicks <= 0) void ask();
      return;
    }
    asked.ticks += 1;
    if (asked.ticks % PROBE_LIMIT_TICKS !== 0) return;
    const connections = asked.closeSilent();
    interrupt({ connections }, 'database does not reply; closed its silent connections');
  };

  const timer = setInterval(tick, TICK_MS);
  timer.unref();
  await ask();
  return {
    nowMs: () => reply.databaseMs + (performance.now() - reply.at),
    clockProblem: () => problem,
    steadyMs: () => (steadySince === null ? 0 : performance.now() - steadySince),
    stop: () => clearInterval(timer),
  };
}

const HUNG = 'closed connections without a reply';

/**
 * Closes the connections whose session is idle for the server although a statement was sent to it.
 * Behind a pooler or a translated address the ports are unknown to the server, and nothing is closed.
 */
async function closeHungSessions(probe: Sql, waiting: Map<number, Socket>): Promise<number> {
  if (waiting.size === 0) return 0;
  const idle = await probe<{ port: number }[]>`
    select client_port as port from pg_stat_activity where datname = current_database() and usename = current_user
      and client_addr is not distinct from inet_client_addr() and state like 'idle%'
      and client_port::text = any(${[...waiting.keys()].map(String)}::text[])`;
  let closed = 0;
  for (const { port } of idle) {
    const socket = waiting.get(port);
    if (socket) closed += close(socket, 'the session of the database hangs');
  }
  return closed;
}

function describeClock(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this process is ${seconds} s ${direction} the clock of the database: correct it, for example with NTP`;
}
