import { isDeepStrictEqual } from 'node:util';
import type { Queryable, Sql } from '@gantry/db/connect';
import { forgiveFailedBuild } from '@gantry/db/queries/hosts/host-trouble';
import { lockAffectedHosts, removeVm } from '@gantry/db/queries/settle/release-vm';
import {
  lockHostOfStream,
  lockReportedDisks,
  removeConfirmedRules,
  type SettledHost,
  type UnresponsiveVm,
  updateDisksGone,
  updateHostReport,
  updateHostReported,
  updateReportedDisks,
  upsertSerialLogs,
} from '@gantry/db/queries/settle/settle-hosts';
import { lockPlacedVms, type PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { transact } from '@gantry/db/transact';
import { type HostReport, printable, type VmReport } from '../attached/host-report.ts';
import type { SettledVm } from '../follow-operations.ts';
import { markReachable } from '../liveness/mark-reachable.ts';
import { failGrowth } from './fail-growth.ts';
import { isSilence } from './is-silence.ts';
import { settleOrphans } from './orphans/settle-orphans.ts';
import type { Proof } from './proof.ts';
import { settleAbsent } from './settle-absent.ts';
import { disksToRecord } from './settle-attachments.ts';
import { settleFreezes } from './settle-freezes.ts';
import {
  applyVerdict,
  isToBeRemoved,
  judgeVm,
  releaseCleanDevices,
  type VmVerdict,
} from './settle-vm.ts';
import { settleSnapshots } from './snapshots/settle-snapshots.ts';
import type { FailedGrowth, VmSettling } from './vm-settling.ts';

type Settlement = {
  sql: Sql;
  hostId: string;
  streamEpoch: string;
  report: HostReport;
  proof: Proof;
  /** Called after the commit with the VMs that the report meant something for. */
  onSettled?: ((vms: SettledVm[]) => void) | undefined;
};

/**
 * Applies a report in one transaction. Returns false and writes nothing if the report came from a
 * stale stream or a fenced host, or if commits may be lost and no new era has begun yet.
 */
export async function settleReport(settlement: Settlement): Promise<boolean> {
  const { hostId, streamEpoch, report, proof } = settlement;
  const failedGrowths: FailedGrowth[] = [];
  const builtNowhere: VmSettling['builtNowhere'] = [];
  const settledVms: SettledVm[] = [];
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
      if (!vmReport) return [];
      const verdict = judgeVm(vm, vmReport);
      return verdict.is === 'gone' && !proof.isAccepted ? [] : [{ vm, vmReport, verdict }];
    });
    await lockOthers(sql, { hostId, judged });
    if (host.state === 'unreachable') await markReachable(sql, { hostId, vms });
    const removedVmIds: string[] = [];
    const hasFailedBuilds = host.failed_builds > 0;
    const settling = {
      ...{ sql, hostId, hasFailedBuilds, sharedStorage: host.shared_storage },
      ...{ report, failedGrowths, builtNowhere, removedVmIds },
    };
    const applyAll = async () => {
      for (const { vm, vmReport, verdict } of judged) {
        const ofVm = { ...settling, vm, vmReport };
        if (proof.isAccepted && verdict.is !== 'gone') await releaseCleanDevices(ofVm);
        await applyVerdict(ofVm, verdict);
        if (vm.operation_id && verdict.is !== 'nothing')
          settledVms.push({ vmId: vm.id, operationId: vm.operation_id, verdict: verdict.is });
      }
    };
    await Promise.all([applyAll(), settleHost(sql, { hostId, host, vms, report, judged })]);
    if (host.has_absent_vms) await settleAbsent(sql, { hostId, judged });
    // After the verdicts: a verdict may have detached a disk that the host reports as deleted.
    if (report.deletedDisks.length > 0 && proof.isAccepted)
      await updateDisksGone(sql, { hostId, diskIds: report.deletedDisks });
    for (const vmId of removedVmIds) await removeVm(sql, vmId);
    const isUnknown = ({ state }: VmReport) => state === 'VM_OBSERVED_STATE_UNKNOWN';
    if (proof.isAccepted && (host.has_orphans || report.vms.some(isUnknown))) {
      const placedVmIds = new Set(vms.map(({ id }) => id));
      await settleOrphans(sql, { hostId, report, placedVmIds });
    }
    if (proof.isAccepted && host.awaits_era) await updateHostReported(sql, hostId);
    // After everything that locks spec numbers, as when a rule changes.
    if (proof.firewallNumber !== '0')
      await removeConfirmedRules(sql, { hostId, number: proof.firewallNumber });
    return true;
  });
  if (settledVms.length > 0) settlement.onSettled?.(settledVms);
  // In transactions of their own: VMs of other hosts, which must be locked first, may have the disk,
  // and the other hosts that could not build a VM may have smaller ids.
  for (const build of builtNowhere) await forgiveFailedBuild(settlement.sql, build);
  for (const growth of failedGrowths) await failGrowth(settlement.sql, growth);
  // Snapshots are locked before hosts.
  if (applied) {
    await settleFreezes(settlement.sql, { hostId, report });
    await settleSnapshots(settlement.sql, { hostId, report, isProof: proof.isAccepted });
  }
  return applied;
}

type Judged = { vm: PlacedVmRow; verdict: VmVerdict };
type JudgedReport = Judged & { vmReport: VmReport };

async function lockOthers(
  sql: Queryable,
  { hostId, judged }: { hostId: string; judged: Judged[] },
): Promise<void> {
  const released = judged.flatMap(({ vm, verdict }) => (verdict.is === 'gone' ? [vm] : []));
  const removedVmIds = released.filter(isToBeRemoved).map(({ id }) => id);
  const newDiskIds = judged.flatMap(({ vm, verdict }) =>
    verdict.is === 'running' || verdict.is === 'crashed'
      ? vm.attachments.flatMap(({ disk_id, kept_here }) => (kept_here ? [] : [disk_id]))
      : [],
  );
  // The host that keeps a disk has to grow it, or to remove it with its VM, as soon as no VM elsewhere has it.
  const keptElsewhereIds = judged.flatMap(({ vm, verdict }) => {
    const isRemoved = verdict.is === 'gone' && isToBeRemoved(vm);
    return vm.attachments.flatMap(({ disk_id, kept_elsewhere, size_gib, observed_size_gib }) =>
      kept_elsewhere && (isRemoved || (observed_size_gib ?? size_gib) < size_gib) ? [disk_id] : [],
    );
  });
  if (removedVmIds.length + newDiskIds.length + keptElsewhereIds.length === 0) return;
  await lockAffectedHosts(sql, { hostId, removedVmIds, newDiskIds, keptElsewhereIds });
}

async function settleHost(
  sql: Queryable,
  {
    hostId,
    host,
    vms,
    report,
    judged,
  }: Pick<Settlement, 'hostId' | 'report'> & {
    host: SettledHost;
    vms: PlacedVmRow[];
    judged: JudgedReport[];
  },
): Promise<void> {
  const unknownVms = report.vms
    .filter(({ state }) => state === 'VM_OBSERVED_STATE_UNKNOWN')
    .map(({ id }) => id)
    .sort();
  const unresponsiveVms = unresponsiveIn(report);
  const acceptedNumber = report.acceptedNumber;
  const refusal = printable(report.refusal?.failure?.message ?? '');
  const hasChanged =
    host.accepted_number !== acceptedNumber ||
    host.refusal !== refusal ||
    host.unknown_vms.join() !== unknownVms.join() ||
    !isDeepStrictEqual(host.unresponsive_vms, unresponsiveVms);
  const disks = disksToRecord({ report, vms, judged });
  await Promise.all([
    hasChanged &&
      updateHostReport(sql, { hostId, acceptedNumber, refusal, unknownVms, unresponsiveVms }),
    disks.length > 0 && updateReportedDisks(sql, { hostId, disks, newIds: diskIdsOf(vms) }),
    report.serialLogs.length > 0 && upsertSerialLogs(sql, { hostId, logs: report.serialLogs }),
  ]);
}

/** By id, so that a report in another order changes nothing. */
function unresponsiveIn({ vms }: HostReport): UnresponsiveVm[] {
  return vms
    .flatMap(({ id, failure }) =>
      failure && isSilence(failure)
        ? [{ vmId: printable(id), message: printable(failure.message), since: momentOf(failure) }]
        : [],
    )
    .sort((a, b) => (a.vmId < b.vmId ? -1 : 1));
}

/** A later moment was not sent by an agent, and has no usual notation. */
const MAX_MOMENT_MS = Date.UTC(9999, 0);

/** By the clock of the host. Null if the host sent no possible time. */
function momentOf({ sinceMs }: { sinceMs: string }): string | null {
  const ms = Number(sinceMs);
  return ms > 0 && ms < MAX_MOMENT_MS ? new Date(ms).toISOString() : null;
}

function diskIdsOf(vms: PlacedVmRow[]): string[] {
  return vms.flatMap(({ attachments }) => attachments.map(({ disk_id }) => disk_id));
}
