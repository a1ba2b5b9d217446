import type { Queryable, Sql } from '@gantry/db/connect';
import { lockAffectedHosts, removeVm } from '@gantry/db/queries/settle/release-vm';
import {
  lockHostOfStream,
  lockReportedDisks,
  removeConfirmedRules,
  type SettledHost,
  updateDisksGone,
  updateHostReport,
  updateReportedDisks,
  upsertSerialLogs,
} from '@gantry/db/queries/settle/settle-hosts';
import { lockPlacedVms, type PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { transact } from '@gantry/db/transact';
import { gib, type HostReport, printable } from '../attached/host-report.ts';
import { markReachable } from '../liveness/mark-reachable.ts';
import { failGrowth } from './fail-growth.ts';
import { applyVerdict, isToBeRemoved, judgeVm, type VmVerdict } from './settle-vm.ts';
import type { FailedGrowth } from './vm-settling.ts';

type Settlement = { sql: Sql; hostId: string; streamEpoch: string; report: HostReport };

/**
 * Applies a report in one transaction. Returns false and writes nothing if the report came from a
 * stale stream or a fenced host.
 */
export async function settleReport(settlement: Settlement): Promise<boolean> {
  const { hostId, streamEpoch, report } = settlement;
  const failedGrowths: FailedGrowth[] = [];
  const applied = await transact(settlement.sql, async (sql) => {
    const diskIds = [...report.disks.map(({ id }) => id), ...report.deletedDisks];
    // The statements are pipelined and run in this order, which is the global lock order.
    const [vms, , host] = await Promise.all([
      lockPlacedVms(sql, hostId),
      lockReportedDisks(sql, { hostId, diskIds }),
      lockHostOfStream(sql, { hostId, streamEpoch }),
    ]);
    if (!host) return false;
    const reported = new Map(report.vms.map((vmReport) => [vmReport.id, vmReport]));
    const judged = vms.flatMap((vm) => {
      const vmReport = reported.get(vm.id);
      return vmReport ? [{ vm, vmReport, verdict: judgeVm(vm, vmReport) }] : [];
    });
    await lockOthers(sql, { hostId, spans: host.spans, judged });
    if (host.state === 'unreachable') await markReachable(sql, { hostId, vms });
    const removedVmIds: string[] = [];
    const settling = { sql, hostId, report, failedGrowths, removedVmIds };
    const applyAll = async () => {
      for (const { vm, vmReport, verdict } of judged)
        await applyVerdict({ ...settling, vm, vmReport }, verdict);
    };
    await Promise.all([applyAll(), settleHost(sql, { hostId, host, report })]);
    // After the verdicts: a verdict may have detached a disk that the host reports as deleted.
    if (report.deletedDisks.length > 0)
      await updateDisksGone(sql, { hostId, diskIds: report.deletedDisks });
    for (const vmId of removedVmIds) await removeVm(sql, vmId);
    return true;
  });
  // In transactions of their own, because VMs of other hosts, which must be locked first, may have
  // the disk.
  for (const growth of failedGrowths) await failGrowth(settlement.sql, growth);
  return applied;
}

type Judged = { vm: PlacedVmRow; verdict: VmVerdict };

async function lockOthers(
  sql: Queryable,
  { hostId, spans, judged }: { hostId: string; spans: boolean; judged: Judged[] },
): Promise<void> {
  const released = judged.flatMap(({ vm, verdict }) => (verdict.is === 'gone' ? [vm] : []));
  const releasedVmIds = spans ? released.map(({ id }) => id) : [];
  const removedVmIds = released.filter(isToBeRemoved).map(({ id }) => id);
  const newDiskIds = judged.flatMap(({ vm, verdict }) =>
    verdict.is === 'running' || verdict.is === 'crashed'
      ? vm.attachments.flatMap(({ disk_id, kept_here }) => (kept_here ? [] : [disk_id]))
      : [],
  );
  if (releasedVmIds.length + removedVmIds.length + newDiskIds.length === 0) return;
  await lockAffectedHosts(sql, { hostId, releasedVmIds, removedVmIds, newDiskIds });
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
  const refusal = printable(report.refusal?.failure?.message ?? '');
  const hasChanged =
    host.accepted_number !== acceptedNumber ||
    host.refusal !== refusal ||
    host.unknown_vms.join() !== unknownVms.join();
  const disks = report.disks.map(({ id, sizeBytes }) => ({ id, sizeGib: gib(sizeBytes) }));
  await Promise.all([
    hasChanged && updateHostReport(sql, { hostId, acceptedNumber, refusal, unknownVms }),
    report.firewallNumber !== '0' &&
      removeConfirmedRules(sql, { hostId, number: report.firewallNumber }),
    disks.length > 0 && updateReportedDisks(sql, { hostId, disks }),
    report.serialLogs.length > 0 && upsertSerialLogs(sql, { hostId, logs: report.serialLogs }),
  ]);
}
