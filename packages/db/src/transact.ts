import type { Sql, Transaction } from './connect.ts';
import { passOperationEnds } from './operation-ends.ts';

/** Much longer than any pause between two statements, and shorter than other transactions wait. */
const IDLE_LIMIT_MS = 5_000;

/**
 * Runs a transaction whose locks others may wait for. If the process stops in the middle of it,
 * because it was paused or lost its network, PostgreSQL rolls the transaction back after the limit
 * and releases its locks. If the process continues later, its next statement fails. The limit is
 * set for this transaction only, so that it also works behind a connection pooler.
 */
export async function transact<T>(sql: Sql, body: (tx: Transaction) => Promise<T>): Promise<T> {
  const done = await sql.begin(async (tx) => {
    // Sent first, so that no lock is held without it; not awaited, so that it costs no round trip.
    const settings = tx`
      select set_config('idle_in_transaction_session_timeout', ${String(IDLE_LIMIT_MS)}, true),
        ${forceGenericPlan(tx)}`.execute();
    const [, result] = await Promise.all([settings, body(tx)]);
    return { result, tx };
  });
  passOperationEnds(sql, done.tx);
  return done.result;
}

/** Runs a read whose planning takes longer than its execution. All its statements see the same state. */
export async function readWithGenericPlan<T>(
  sql: Sql,
  read: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const done = await sql.begin('isolation level repeatable read read only', async (tx) => {
    const setting = tx`select ${forceGenericPlan(tx)}`.execute();
    const [, result] = await Promise.all([setting, read(tx)]);
    return { result };
  });
  return done.result;
}

/**
 * Our statements find rows by key, whatever the keys are. By default PostgreSQL plans statements
 * with array parameters again at every call, which can take longer than their execution.
 */
const forceGenericPlan = (tx: Transaction) =>
  tx`set_config('plan_cache_mode', 'force_generic_plan', true)`;
