import type { Sql } from '@gantry/db/connect';
import {
  type FoundDifference,
  insertDifferences,
  lockHostToCompare,
} from '@gantry/db/queries/maintenance/differences';
import { lockPlacedVms, type PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { transact } from '@gantry/db/transact';
import { type HostReport, isUuid, type VmReport } from '../attached/host-report.ts';
import { isAhead } from './settle-vm.ts';

type Comparison = { sql: Sql; hostId: string; streamEpoch: string; report: HostReport };

/** A host has fewer disks. A host that reports more is wrong, and must not fill the database. */
const MAX_DIFFERENCES = 1_000;

/**
 * Records how the host differs from the database after an era has begun. No spec of the era has reached
 * the host yet, so its report is about the history that the database may have lost. Returns true if the
 * host was compared, and false if it does not have to be.
 */
export async function compareHost(comparison: Comparison): Promise<boolean> {
  const { hostId, streamEpoch, report } = comparison;
  return await transact(comparison.sql, async (sql) => {
    const vms = await lockPlacedVms(sql, hostId);
    const era = await lockHostToCompare(sql, { hostId, streamEpoch });
    if (era === undefined) return false;
    const differences = findDifferences(vms, report).slice(0, MAX_DIFFERENCES);
    const diskIds = looseDisks(report).slice(0, MAX_DIFFERENCES);
    await insertDifferences(sql, { era, hostId, differences, diskIds });
    return true;
  });
}

export function findDifferences(
  vms: readonly PlacedVmRow[],
  report: Pick<HostReport, 'vms'>,
): FoundDifference[] {
  const reported = new Map(report.vms.map((vm) => [vm.id, vm]));
  return vms
    .filter((vm) => vm.should_run && vm.observed_state === 'running')
    .flatMap((vm) => differencesOf(vm, reported.get(vm.id)));
}

/** A VM in these states is on its host: what happened to it there is settled as always. */
const PRESENT: readonly VmReport['state'][] = [
  'VM_OBSERVED_STATE_RUNNING',
  'VM_OBSERVED_STATE_CRASHED',
  'VM_OBSERVED_STATE_FAILED',
  'VM_OBSERVED_STATE_UNKNOWN',
];

function differencesOf(vm: PlacedVmRow, seen: VmReport | undefined): FoundDifference[] {
  const vmId = vm.id;
  if (!seen || !PRESENT.includes(seen.state)) return [{ kind: 'absent', vmId, diskId: null }];
  const ahead: FoundDifference[] = isAhead(seen.generation, vm.generation)
    ? [{ kind: 'ahead', vmId, diskId: null }]
    : [];
  if (seen.state !== 'VM_OBSERVED_STATE_RUNNING') return ahead;
  const there = new Set(seen.disks.map(({ id }) => id).filter(isUuid));
  const known = vm.attachments.filter(({ attached }) => attached).map(({ disk_id }) => disk_id);
  const here = new Set(vm.attachments.map(({ disk_id }) => disk_id));
  return [
    ...ahead,
    ...[...there]
      .filter((id) => !here.has(id))
      .map((diskId) => ({ kind: 'disk_attached' as const, vmId, diskId })),
    ...known
      .filter((id) => !there.has(id))
      .map((diskId) => ({ kind: 'disk_detached' as const, vmId, diskId })),
  ];
}

/** Returns the disks of the host that none of its VMs has. */
function looseDisks({ vms, disks }: HostReport): string[] {
  const ofVms = new Set(vms.flatMap((vm) => vm.disks.map(({ id }) => id)));
  return [...new Set(disks.map(({ id }) => id))].filter((id) => isUuid(id) && !ofVms.has(id));
}
