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
    const limit = tx`
      select set_config('idle_in_transaction_session_timeout', ${String(STANDSTILL_MS)}, true)`.execute();
    const [, result] = await Promise.all([limit, body(tx)]);
    return { result };
  });
  return done.result;
}
