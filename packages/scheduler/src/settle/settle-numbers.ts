import type { Sql } from '@gantry/db/connect';
import { updateHostNumbers } from '@gantry/db/queries/settle-hosts';
import type { HostReport } from './host-report.ts';

type Settlement = { sql: Sql; hostId: string; streamEpoch: string; report: HostReport };

/**
 * A host that only took a newer spec, and has its rules in force: many specs change nothing but
 * that. False where the stream is not the host's newest, or the host was fenced.
 */
export async function settleNumbers(settlement: Settlement): Promise<boolean> {
  const { sql, hostId, streamEpoch, report } = settlement;
  const { acceptedNumber, firewallNumber } = report;
  return await updateHostNumbers(sql, { hostId, streamEpoch, acceptedNumber, firewallNumber });
}
