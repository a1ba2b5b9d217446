import type { Queryable, Sql } from '@gantry/db/connect';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import {
  type FoundDifference,
  insertDifferences,
  listMissingDisks,
  lockHostToCompare,
} from '@gantry/db/queries/maintenance/differences';
import { lockPlacedVms, type PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { transact } from '@gantry/db/transact';
import { hashNetwork, hashVm } from '@gantry/proto/content-hash';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { VmSpec } from '@gantry/proto/generated/gantry/v1/VmSpec';
import { gib, type HostReport, isUuid, type VmReport } from '../attached/host-report.ts';
import { toHostSpec } from '../deliver/host-spec.ts';
import { isAhead } from './settle-vm.ts';

type Comparison = {
  sql: Sql;
  hostId: string;
  streamEpoch: string;
  report: HostReport;
  /** The host has accepted a spec that this database has not issued. */
  isAhead: boolean;
};

/** A host has fewer disks. A host that reports more is wrong, and must not fill the database. */
const MAX_DIFFERENCES = 1_000;

/**
 * Records how the host differs from the database after an era has begun, or if the host is ahead although
 * none has. No spec of the database has reached the host since, so its report is about the history that the
 * database may have lost. Returns true if the host was compared, and false if it does not have to be.
 */
export async function compareHost(comparison: Comparison): Promise<boolean> {
  const { hostId, streamEpoch, report, isAhead: isHostAhead } = comparison;
  return await transact(comparison.sql, async (sql) => {
    const vms = await lockPlacedVms(sql, hostId);
    const era = await lockHostToCompare(sql, { hostId, streamEpoch, isAhead: isHostAhead });
    if (era === undefined) return false;
    const [row] = await readHostSpecs(sql, [hostId]);
    if (!row) return false;
    const spec = toHostSpec(row);
    const differences = [
      ...findDifferences({ vms, spec, report }),
      ...(await findMissingDisks(sql, { hostId, report })),
    ].slice(0, MAX_DIFFERENCES);
    const diskIds = looseDisks(report).slice(0, MAX_DIFFERENCES);
    await insertDifferences(sql, { era, hostId, differences, diskIds });
    return true;
  });
}

type Sides = { vms: readonly PlacedVmRow[]; spec: HostSpec; report: HostReport };

function findDifferences({ vms, spec, report }: Sides): FoundDifference[] {
  const reported = new Map(report.vms.map((vm) => [vm.id, vm]));
  const desired = new Map(spec.vms?.map((vm) => [vm.id, vm]));
  return [
    ...vms
      .filter((vm) => vm.should_run && vm.observed_state === 'running')
      .flatMap((vm) =>
        differencesOf(vm, { desired: desired.get(vm.id), seen: reported.get(vm.id) }),
      ),
    ...changedNetworks(spec, report),
  ];
}

/** A VM in these states is on its host: what happened to it there is settled as always. */
const PRESENT: readonly VmReport['state'][] = [
  'VM_OBSERVED_STATE_RUNNING',
  'VM_OBSERVED_STATE_CRASHED',
  'VM_OBSERVED_STATE_FAILED',
  'VM_OBSERVED_STATE_UNKNOWN',
];

type SeenVm = { desired: VmSpec | undefined; seen: VmReport | undefined };

function differencesOf(vm: PlacedVmRow, { desired, seen }: SeenVm): FoundDifference[] {
  const vmId = vm.id;
  if (!seen || !PRESENT.includes(seen.state)) return [{ kind: 'absent', vmId }];
  const found: FoundDifference[] = [];
  if (isAhead(seen.generation, vm.generation)) found.push({ kind: 'ahead', vmId });
  if (desired && seen.contentHash !== '' && seen.contentHash !== hashVm(desired))
    found.push({ kind: 'vm_changed', vmId });
  if (seen.state === 'VM_OBSERVED_STATE_RUNNING') found.push(...changedDisks(vm, seen));
  return found;
}

function changedDisks({ id: vmId, attachments }: PlacedVmRow, seen: VmReport): FoundDifference[] {
  const there = new Map(
    seen.disks.filter(({ id }) => isUuid(id)).map(({ id, sizeBytes }) => [id, gib(sizeBytes)]),
  );
  const here = new Set(attachments.map(({ disk_id }) => disk_id));
  const known = attachments.filter(({ attached }) => attached);
  return [
    ...[...there.keys()]
      .filter((id) => !here.has(id))
      .map((diskId) => ({ kind: 'disk_attached' as const, vmId, diskId })),
    ...known
      .filter(({ disk_id }) => !there.has(disk_id))
      .map(({ disk_id: diskId }) => ({ kind: 'disk_detached' as const, vmId, diskId })),
    ...attachments
      .filter(({ disk_id, size_gib }) => (there.get(disk_id) ?? 0) > size_gib)
      .map(({ disk_id: diskId }) => ({ kind: 'disk_grown' as const, vmId, diskId })),
  ];
}

/** A network that only one side has belongs to VMs that only this side has. */
function changedNetworks(spec: HostSpec, report: HostReport): FoundDifference[] {
  const reported = new Map(report.networks.map(({ id, contentHash }) => [id, contentHash]));
  return (spec.networks ?? []).flatMap((network) => {
    const rules = (spec.firewallRules ?? []).filter((rule) => rule.networkId === network.id);
    const networkId = network.id ?? '';
    const hash = reported.get(networkId);
    if (hash === undefined || hash === hashNetwork(network, rules)) return [];
    return [{ kind: 'network_changed' as const, networkId }];
  });
}

async function findMissingDisks(
  sql: Queryable,
  { hostId, report }: Pick<Comparison, 'hostId' | 'report'>,
): Promise<FoundDifference[]> {
  if (!report.storedDisks) return [];
  const diskIds = report.storedDisks.ids.filter(isUuid);
  const missing = await listMissingDisks(sql, { hostId, diskIds });
  return missing.map(({ id: diskId, vm_id }) => ({
    ...{ kind: 'disk_missing', diskId },
    ...(vm_id === null ? {} : { vmId: vm_id }),
  }));
}

/** Returns the disks of the host that none of its VMs has. */
function looseDisks({ vms, disks, storedDisks }: HostReport): string[] {
  const ofVms = new Set(vms.flatMap((vm) => vm.disks.map(({ id }) => id)));
  const stored = [...disks.map(({ id }) => id), ...(storedDisks?.ids ?? [])];
  return [...new Set(stored)].filter((id) => isUuid(id) && !ofVms.has(id));
}
