import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import { closeDueDays } from '@gantry/db/queries/usage/usage';

/**
 * Closes the usage of past days, and adjusts closed days whose usage became known late. Any number
 * of processes can do this at the same time.
 */
export async function closeUsage({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const date of await closeDueDays(sql)) log.info({ date }, 'usage day closed');
  for (const { date, organizationId, adjustments } of await adjustClosedDays(sql))
    log.info({ date, organization_id: organizationId, adjustments }, 'closed usage day adjusted');
}
