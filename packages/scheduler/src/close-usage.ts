import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { closeDueDays } from '@gantry/db/queries/usage/usage';

/** Closes the usage of past days. Any number of processes can do this at the same time. */
export async function closeUsage({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const date of await closeDueDays(sql)) log.info({ date }, 'usage day closed');
}
