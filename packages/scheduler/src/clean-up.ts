import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  removeOldConsoleTickets,
  removeOldIdempotencyKeys,
  removeOldRefreshTokens,
} from '@gantry/db/queries/maintenance/clean-up';

const REMOVALS = {
  idempotency_keys: removeOldIdempotencyKeys,
  refresh_tokens: removeOldRefreshTokens,
  console_tickets: removeOldConsoleTickets,
};
const BATCH_ROWS = 2_000;
/** A turn ends well within the time a process has to drain; what is left waits for the next one. */
const TURN_BATCHES = 200;

type CleanUpOptions = { sql: Sql; log: Log; batchRows?: number; turnBatches?: number };

/** Removes what has outlived its use. Any number of processes may do so at once. */
export async function cleanUp({
  sql,
  log,
  batchRows = BATCH_ROWS,
  turnBatches = TURN_BATCHES,
}: CleanUpOptions): Promise<void> {
  for (const [table, remove] of Object.entries(REMOVALS)) {
    let removed = 0;
    for (let batch = 0; batch < turnBatches; batch += 1) {
      const count = await remove(sql, batchRows);
      removed += count;
      if (count < batchRows) break;
    }
    if (removed > 0) log.info({ table, removed }, 'old rows removed');
  }
}
