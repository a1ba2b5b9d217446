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
/** Limits one run, so that it ends well within the shutdown time. The next run continues. */
const MAX_BATCHES = 200;

type CleanUpOptions = { sql: Sql; log: Log; batchRows?: number; maxBatches?: number };

/** Removes expired rows in batches. Any number of processes can do this at the same time. */
export async function cleanUp({
  sql,
  log,
  batchRows = BATCH_ROWS,
  maxBatches = MAX_BATCHES,
}: CleanUpOptions): Promise<void> {
  for (const [table, remove] of Object.entries(REMOVALS)) {
    let removed = 0;
    for (let batch = 0; batch < maxBatches; batch += 1) {
      const count = await remove(sql, batchRows);
      removed += count;
      if (count < batchRows) break;
    }
    if (removed > 0) log.info({ table, removed }, 'old rows removed');
  }
}
