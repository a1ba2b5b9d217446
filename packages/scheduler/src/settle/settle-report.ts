import type { Queryable, Sql } from '@gantry/db/connect';
import {
  holdStream,
  removeFirewallDebts,
  type SettledHost,
  updateDisksGone,
  updateHostReport,
  updateKeptDisk,
  upsertSerialLogs,
} from '@gantry/db/queries/settle-hosts';
import { lockPlacedVms } from '@gantry/db/queries/settle-vms';
import { markReachable } from '../liveness/mark-reachable.ts';
import { applyVerdict } from './apply-verdict.ts';
import { gib, type HostReport } from './host-report.ts';
import { judgeVm } from './settle-vm.ts';

type Settlement = { sql: Sql; hostId: string; streamEpoch: string; report: HostReport };

/**
 * Takes a whole report to heart, in one transaction. False where it came by a stream that is not the
 * host's newest any more, or from a host that was fenced: then nothing of it counts.
 */
export async function settleReport(settlement: Settlement): Promise<boolean> {
  const { hostId, streamEpoch, report } = settlement;
  return await settlement.sql.begin(async (sql) => {
    const vms = await lockPlacedVms(sql, hostId);
    const host = await holdStream(sql, { hostId, streamEpoch });
    if (!host) return false;
    const words = new Map(report.vms.map((word) => [word.id, word]));
    const now = new Date();
    if (host.state === 'unreachable') await markReachable(sql, { hostId, vms });
    for (const vm of vms) {
      const word = words.get(vm.id);
      if (word) await applyVerdict({ sql, hostId, vm, report, word, now }, judgeVm(vm, word));
    }
    await settleHost(sql, { hostId, host, report });
    return true;
  });
}

async function settleHost(
  sql: Queryable,
  { hostId, host, report }: { hostId: string; host: SettledHost; report: HostReport },
): Promise<void> {
  const unknownVms = report.vms
    .filter(({ state }) => state === 'VM_OBSERVED_STATE_UNKNOWN')
    .map(({ id }) => id)
    .sort();
  const acceptedNumber = report.acceptedNumber;
  const refusal = report.refusal?.failure?.message ?? '';
  const isNews =
    host.accepted_number !== acceptedNumber ||
    host.refusal !== refusal ||
    host.unknown_vms.join() !== unknownVms.join();
  if (isNews) await updateHostReport(sql, { hostId, acceptedNumber, refusal, unknownVms });
  if (report.firewallNumber !== '0')
    await removeFirewallDebts(sql, { hostId, number: report.firewallNumber });
  for (const { id, sizeBytes } of report.disks)
    await updateKeptDisk(sql, { hostId, diskId: id, sizeGib: gib(sizeBytes) });
  if (report.deletedDisks.length > 0)
    await updateDisksGone(sql, { hostId, diskIds: report.deletedDisks });
  if (report.serialLogs.length > 0)
    await upsertSerialLogs(sql, { hostId, logs: report.serialLogs });
}
