import type { Sql } from '@gantry/db/connect';
import { expect } from 'vitest';
import { isLateConnection } from './other-process.ts';

/** Much longer than a session takes to end. */
const END_LIMIT_MS = 5_000;

type Reply = { status: number; body: { message?: string } };

export const pick = <T>(from: readonly T[]): T =>
  from[Math.floor(Math.random() * from.length)] as T;

/** Requests and schedulers that write at the same time, and what went wrong with them. */
export function concurrentWriters() {
  const problems: unknown[] = [];
  /** How often each kind of request was accepted. */
  const accepted = new Map<string, number>();
  /** Why each kind of request was refused the last time. */
  const refused = new Map<string, string>();
  let isBusy = true;

  /** Runs something that may fail only because the machine is slow. */
  const guard = async (body: () => Promise<unknown>) => {
    try {
      await body();
    } catch (error) {
      if (!isLateConnection(error)) problems.push(error);
    }
    await new Promise(setImmediate);
  };
  return {
    ...{ problems, accepted, refused, guard },
    /** Counts the reply to a request of this kind. One with a status of 500 or more is a problem. */
    async reply<T extends Reply>(name: string, sent: Promise<T>): Promise<T['body']> {
      const { status, body } = await sent;
      if (status === 200) accepted.set(name, (accepted.get(name) ?? 0) + 1);
      else refused.set(name, `${status} ${body.message}`);
      if (status >= 500) problems.push({ name, status, body });
      return body;
    },
    /** Repeats something until the writers are stopped, or one of them has a problem. */
    async repeat(body: () => Promise<unknown>): Promise<void> {
      while (isBusy && problems.length === 0) await guard(body);
    },
    stop() {
      isBusy = false;
    },
  };
}

/**
 * A session counts its deadlocks when it ends, so all but this one are ended. The server waits for the end of each, so that
 * the pools learn of it before their next statement, and open other sessions.
 */
export async function countDeadlocks(watcher: Sql): Promise<number> {
  const others = () =>
    watcher`select pg_terminate_backend(pid, ${END_LIMIT_MS}::bigint) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await others()).length).toBe(0);
  const [row] = await watcher<{ deadlocks: number }[]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  return row?.deadlocks ?? -1;
}
