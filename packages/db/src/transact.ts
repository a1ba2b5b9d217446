import type { Sql, Transaction } from './connect.ts';

/** Far longer than we pause between two statements, shorter than whom we hold up waits. */
const STANDSTILL_MS = 5_000;

/**
 * A transaction whose locks others may wait for. A process that stops in the middle of it, because it
 * was paused or cut off without a word, loses it after a while and holds nobody up any longer; should
 * it go on, its next statement fails, and nothing of it was written. Set for this transaction alone,
 * so that it holds behind a pooler too.
 */
export async function transact<T>(sql: Sql, body: (tx: Transaction) => Promise<T>): Promise<T> {
  const done = await sql.begin(async (tx) => {
    // First, so that no lock is ever held without it; not waited for, so that it costs nothing.
    const settings = tx`
      select set_config('idle_in_transaction_session_timeout', ${String(STANDSTILL_MS)}, true),
        ${planOnce(tx)}`.execute();
    const [, result] = await Promise.all([settings, body(tx)]);
    return { result };
  });
  return done.result;
}

/** Reads by a statement whose planning costs more than its run. */
export async function readPlanned<T>(sql: Sql, read: (tx: Transaction) => Promise<T>): Promise<T> {
  const done = await sql.begin('read only', async (tx) => {
    const setting = tx`select ${planOnce(tx)}`.execute();
    const [, result] = await Promise.all([setting, read(tx)]);
    return { result };
  });
  return done.result;
}

/**
 * Our statements find rows by key, whatever the keys are. Left to itself PostgreSQL plans those that
 * are given arrays anew at every call, which can take longer than their run.
 */
const planOnce = (tx: Transaction) => tx`set_config('plan_cache_mode', 'force_generic_plan', true)`;
