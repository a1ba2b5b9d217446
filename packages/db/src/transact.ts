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
    const limit = tx`
      select set_config('idle_in_transaction_session_timeout', ${String(STANDSTILL_MS)}, true)`;
    // Sent along with the first statement of the body: it costs no wait.
    const [result] = await Promise.all([body(tx), limit]);
    return { result };
  });
  return done.result;
}
