import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { closeDueDays } from '@gantry/db/queries/usage/usage';

/** Makes the usage of the days that are over final. Any number of processes may do so at once. */
export async function closeUsage({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const date of await closeDueDays(sql)) log.info({ date }, 'usage day closed');
}
