/**
 * Runs statements that lock tables while other processes use the database.
 *
 * A request for a lock that conflicts with a held one waits in a queue, and every later statement on
 * the table waits behind it, even one that only reads. So a migration that waits for one long
 * transaction would stop the whole cloud. Here a transaction waits for its locks for at most
 * `waitMs` altogether, then rolls back, pauses, so that those behind it proceed, and tries again. A
 * crash leaves nothing behind, because every attempt is one transaction.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type Sql, type Transaction } from './connect.ts';

export type LockLimits = {
  /** How long one attempt may make others wait because it waits itself. */
  waitMs: number;
  /** The least time between two attempts. Others use the table meanwhile. */
  pauseMs: number;
  /** After this time the work fails and names the sessions that were in the way. */
  giveUpAfterMs: number;
};

/** Half of the 100 ms for which a statement may be delayed; the rest is for the work itself. */
export const LOCK_LIMITS: LockLimits = { waitMs: 50, pauseMs: 250, giveUpAfterMs: 60_000 };

/** PostgreSQL's lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';
/** How often the blockers of an attempt are read while it waits. */
const WATCH_MS = 10;

export type Locker = {
  tx: Transaction;
  /** Runs a statement that locks tables. */
  execute(statement: string): Promise<void>;
};

export type LockedWork = {
  /** Names the work in the error. */
  what: string;
  /** Another session of this database watches whom the work waits for. */
  url: string;
  limits: LockLimits;
};

type Blockers = { describe(): string; stop(): Promise<void> };

/**
 * Runs the body in a transaction, again and again until it got its locks. What an attempt without
 * success has done is rolled back.
 */
export async function lockBriefly(
  sql: Sql,
  { what, url, limits }: LockedWork,
  body: (locker: Locker) => Promise<void>,
): Promise<void> {
  const beganAt = performance.now();
  let blockers: Blockers | undefined;
  try {
    for (let attempts = 1; ; attempts += 1) {
      const waiting = await attempt(sql, limits, body);
      if (waiting === undefined) return;
      if (performance.now() - beganAt >= limits.giveUpAfterMs) {
        const seconds = Math.round(limits.giveUpAfterMs / 1000);
        throw new Error(
          `${what} needs a lock that other sessions did not release in ${attempts} attempts over ${seconds} s. ` +
            `The statement ${JSON.stringify(shorten(waiting))} waited for ${blockers?.describe() ?? 'an unknown session'}. ` +
            'Nothing was changed: let that session end, or end it, and start again',
        );
      }
      // The first attempt nearly always succeeds, so the blockers are watched only from the second on.
      blockers ??= await watchBlockers(sql, url);
      await pause(limits.pauseMs * (1 + Math.random()));
    }
  } finally {
    await blockers?.stop();
  }
}

/** Returns the statement that got no lock in time, or undefined if everything is committed. */
async function attempt(
  sql: Sql,
  { waitMs }: LockLimits,
  body: (locker: Locker) => Promise<void>,
): Promise<string | undefined> {
  let current = '';
  try {
    await sql.begin(async (tx) => {
      let deadline = 0;
      await body({
        tx,
        async execute(statement) {
          current = statement;
          // Locks of earlier statements are held already, so all statements share the time.
          deadline ||= performance.now() + waitMs;
          const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
          await tx.unsafe(`set local lock_timeout = ${leftMs};\n${statement}`);
        },
      });
    });
    return undefined;
  } catch (error) {
    if (isLockTimeout(error)) return current;
    throw error;
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

type Blocker = { pid: number; name: string; user: string; state: string; seconds: number };

/**
 * Watches from a session of its own what the session of `sql`, which has one connection, waits for.
 * Afterwards it cannot be found out, because the request for the lock is gone.
 */
export async function watchBlockers(sql: Sql, url: string): Promise<Blockers> {
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const watcher = connect({ url, name: 'gantry-migrate-watch', maxConnections: 1 });
  const end = new AbortController();
  let last: Blocker[] = [];
  const watching = (async () => {
    while (!end.signal.aborted) {
      const seen = await watcher<Blocker[]>`
        select pid, application_name as name, usename as user, state,
          round(extract(epoch from clock_timestamp() - xact_start))::int as seconds
        from pg_stat_activity where pid = any(pg_blocking_pids(${session?.pid ?? 0})) order by xact_start`;
      if (seen.length > 0) last = [...seen];
      await pause(WATCH_MS);
    }
  })().catch(() => {
    // The work itself goes on. Only its error would say less.
  });
  return {
    describe: () => (last.length > 0 ? last.map(describeBlocker).join(', ') : 'an unknown session'),
    async stop() {
      end.abort();
      await watching;
      await watcher.end({ timeout: 5 });
    },
  };
}

function describeBlocker({ pid, name, user, state, seconds }: Blocker): string {
  return `session ${pid} (${name || 'unnamed'}, user ${user}, ${state}, in a transaction for ${seconds} s)`;
}

function shorten(statement: string): string {
  const line = statement
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 200)} …` : line;
}
