import type { Sql } from '@gantry/db/connect';
import { updateReportedFreeze } from '@gantry/db/queries/snapshots/snapshot-freezes';
import { transact } from '@gantry/db/transact';
import { type HostReport, isUuid, reasonForTenants } from '../attached/host-report.ts';

const STATES = {
  FREEZE_STATE_UNSPECIFIED: null,
  FREEZE_STATE_FROZEN: 'frozen',
  FREEZE_STATE_RELEASED: 'held',
  FREEZE_STATE_EXPIRED: 'expired',
  FREEZE_STATE_FAILED: 'failed',
} as const;

/** Records what became of the guests that the host was to freeze. The holder of the location's lease goes on from there. */
export async function settleFreezes(
  sql: Sql,
  { hostId, report }: { hostId: string; report: Pick<HostReport, 'freezes'> },
): Promise<void> {
  for (const { id, state: reported, failure } of report.freezes) {
    const state = STATES[reported];
    if (state === null || !isUuid(id)) continue;
    const problem = state === 'failed' ? reasonForTenants(failure?.message ?? '') : '';
    await transact(sql, (tx) =>
      updateReportedFreeze(tx, { hostId, freeze: { id, state, problem } }),
    );
  }
}
