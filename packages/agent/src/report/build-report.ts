import { hashNetwork, hashVm } from '@gantry/proto/content-hash';
import type { FreezeReport } from '@gantry/proto/generated/gantry/v1/FreezeReport';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { NetworkReport } from '@gantry/proto/generated/gantry/v1/NetworkReport';
import type { SpecRefusal } from '@gantry/proto/generated/gantry/v1/SpecRefusal';
import type { VmObservedState } from '@gantry/proto/generated/gantry/v1/VmObservedState';
import type { VmReport } from '@gantry/proto/generated/gantry/v1/VmReport';
import type { Failure } from '../base/failure.ts';
import type { Domain, Volume } from '../host-driver.ts';
import type { RefusedVm, VmFacts } from '../ledger/ledger.ts';
import type { HostContext } from '../reconcile/host-context.ts';
import { lastGeneration } from '../reconcile/plan.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import {
  type DeviceRef,
  entryOf,
  type HostSpec,
  isBelow,
  type VmEntry,
  type VmSpec,
} from '../spec.ts';
import type { LastKnownDomains } from './last-known-domains.ts';

type ReportSource = {
  host: HostContext;
  domains: LastKnownDomains;
  reconciler: Reconciler;
  refusal: SpecRefusal | null;
  freezes: FreezeReport[];
};

/** Returns the observed state of the host, without its inventory and serial logs. */
export async function buildReport({
  host,
  domains: lastKnown,
  reconciler,
  refusal,
  freezes,
}: ReportSource): Promise<HostReport> {
  const { driver, ledger, firewall } = host;
  const [snapshot, devices, made] = await Promise.all([
    lastKnown.refresh(),
    driver.devices.list(),
    readMadeDisks(host),
  ]);
  // Read after the host has replied; from here on everything is read at one moment.
  const { spec, refused = {} } = ledger.content;
  const wanted = [...(spec?.vms ?? []), ...(spec?.takeDowns ?? [])].map((vm) => vm.id);
  const domains = snapshot.domains ?? [];
  const found = [...domains, ...devices].map(({ vmId }) => vmId);
  const ids = [...new Set([...wanted, ...Object.keys(refused), ...found])];
  // A VM that may run is left out until the domains were listed once: leaving it out proves
  // nothing.
  const isKnown = (id: string) => snapshot.domains !== null || ledger.facts(id).generation === '0';
  return {
    acceptedEra: spec?.era ?? '0',
    acceptedNumber: spec?.number ?? '0',
    acceptedHash: spec?.hash ?? '',
    refusal,
    vms: ids.filter(isKnown).map((id) =>
      vmReport({
        id,
        entry: entryOf(spec, id),
        refused: refused[id] ?? null,
        domain: domains.find((domain) => domain.vmId === id) ?? null,
        devices: devices.filter(({ vmId }) => vmId === id),
        facts: ledger.facts(id),
        work: reconciler.worker(id),
        silence: snapshot.failure,
      }),
    ),
    receipts: (spec?.takeDowns ?? []).flatMap(({ id }) => ledger.facts(id).receipts),
    disks: [...reconciler.disks.ready, ...reconciler.snapshots.copied, ...made],
    deletedDisks: [...reconciler.disks.removed],
    firewallNumber: firewall.inForce.number,
    firewallHash: firewall.inForce.hash,
    networks: spec ? reportNetworks(spec) : [],
    freezes,
    ...reconciler.snapshots.report(),
  };
}

/** What was hashed once, by the part of the spec: a spec is replaced and never changed. */
const networkReports = new WeakMap<HostSpec, NetworkReport[]>();
const vmHashes = new WeakMap<VmSpec, string>();

function reportNetworks(spec: HostSpec): NetworkReport[] {
  const known = networkReports.get(spec);
  if (known) return known;
  const reports = spec.networks.map((network) => {
    const rules = spec.firewallRules.filter(({ networkId }) => networkId === network.id);
    return { id: network.id, contentHash: hashNetwork(network, rules) };
  });
  networkReports.set(spec, reports);
  return reports;
}

function contentHash(vm: VmSpec): string {
  const hash = vmHashes.get(vm) ?? hashVm(vm);
  vmHashes.set(vm, hash);
  return hash;
}

/** Returns the existing disks among those that were created here for VMs in the ledger. */
async function readMadeDisks({ driver, ledger }: HostContext): Promise<Volume[]> {
  const ids = Object.values(ledger.content.vms).flatMap(({ madeDisks }) => madeDisks);
  const volumes = await Promise.all([...new Set(ids)].map((id) => driver.volumes.read(id)));
  return volumes.filter((volume) => volume !== null);
}

type KnownVm = {
  id: string;
  entry: VmEntry | null;
  /** The newer entry that was refused, if there is one. Then `entry` is the one before it. */
  refused: RefusedVm | null;
  domain: Domain | null;
  /** The devices that are assigned to it. */
  devices: readonly DeviceRef[];
  facts: VmFacts;
  /** From the worker: the revision that was carried out or given up, and the failure. */
  work: { replied: string; failure: Failure | null; hasFailed: boolean } | undefined;
  /** Why the domain is only known from an earlier time; null if it was listed just now. */
  silence: Failure | null;
};

export function vmReport(known: KnownVm): VmReport {
  const { id, entry, domain, refused, work, silence } = known;
  const state = stateOf(known);
  return {
    id,
    revision: refused ? refused.revision : reportedRevision(known),
    generation: lastGeneration(known),
    state: `VM_OBSERVED_STATE_${state}` satisfies VmObservedState,
    failure: refused?.failure ?? work?.failure ?? silenceOf(domain) ?? (domain ? silence : null),
    disks: domain ? [...domain.disks] : [],
    known: state === 'UNKNOWN' ? describeUnknown(known) : null,
    contentHash: entry && !entry.takeDown ? contentHash(entry.vm) : '',
  };
}

type UnknownVm = NonNullable<VmReport['known']>;

/** The domain shows the least: a ledger that was lost knows no more. */
function describeUnknown({ id, domain, devices, facts }: KnownVm): UnknownVm {
  if (facts.lastEntry) return facts.lastEntry;
  return {
    ...{ id, revision: domain?.revision ?? '0', generation: lastGeneration({ domain, facts }) },
    devices: devices.map(({ kind, address }) => ({ kind, address })),
    disks: (domain?.disks ?? []).map(({ id: diskId, sizeBytes }) => ({ id: diskId, sizeBytes })),
    interfaces: facts.interfaces,
  };
}

function silenceOf(domain: Domain | null): Failure | null {
  return domain?.unresponsive ? { code: 'vm_unresponsive', ...domain.unresponsive } : null;
}

/**
 * A domain that does not reply keeps its last known state. If there is none, the VM is reported as being
 * worked on, which proves nothing: it may run, and its tenant must not lose it.
 */
function stateOf({ entry, refused, domain, facts, work }: KnownVm) {
  const isUnknown = domain?.state === 'unknown';
  if (refused && isUnknown) return 'WORKING';
  if (refused) return domain?.state === 'running' ? 'RUNNING' : 'FAILED';
  if (entry === null) return 'UNKNOWN';
  if (entry.takeDown) {
    if (facts.takenDownRevision === entry.vm.revision) return 'TAKEN_DOWN';
    return work?.hasFailed ? 'FAILED' : 'WORKING';
  }
  if (isUnknown) return 'WORKING';
  const isOfEarlierGeneration = isBelow(lastGeneration({ domain, facts }), entry.vm.generation);
  if (domain?.state === 'running' && !(isOfEarlierGeneration && work?.hasFailed)) return 'RUNNING';
  if (work?.hasFailed) return 'FAILED';
  return facts.crashed && !isOfEarlierGeneration ? 'CRASHED' : 'WORKING';
}

/** After a start of the agent and before its worker has run, the host shows what was done. */
function reportedRevision({ entry, domain, facts, work }: KnownVm): string {
  if (entry === null) return '0';
  if (work && work.replied !== '0') return work.replied;
  if (entry.takeDown) return facts.takenDownRevision || '0';
  return domain?.state === 'running' ? domain.revision : '0';
}
