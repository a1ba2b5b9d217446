import { entryOf, type HostSpec, type VmSpec } from '../spec.ts';
import type { Holdings, Refusals } from './judge-vms.ts';
import type { LedgerContent, RefusedVm, VmFacts } from './ledger.ts';

type Acceptance = { spec: HostSpec; holdings: Holdings; refusals: Refusals; nowMs: number };

/**
 * Returns the ledger with this spec. A refused VM keeps the entry that was accepted earlier, if there is
 * one, so that it runs on unchanged. Facts about VMs that are neither in the spec nor on the host are
 * dropped.
 */
export function withSpec(ledger: LedgerContent, acceptance: Acceptance): LedgerContent {
  const { spec, refusals } = acceptance;
  const kept = [...refusals.keys()].map((vmId) => entryOf(ledger.spec, vmId));
  const isAccepted = ({ id }: { id: string }) => !refusals.has(id);
  const accepted: HostSpec = {
    ...spec,
    // A scheduler of an earlier version sends no era.
    era: spec.hash === '' ? (ledger.spec?.era ?? '0') : spec.era,
    vms: [
      ...spec.vms.filter(isAccepted),
      ...kept.flatMap((entry) => (entry && !entry.takeDown ? [entry.vm] : [])),
    ],
    takeDowns: [
      ...spec.takeDowns.filter(isAccepted),
      ...kept.flatMap((entry) => (entry?.takeDown ? [entry.vm] : [])),
    ],
    // A console belongs to the stream that asked for it, so it is not stored.
    consoles: [],
    // The certificate shows which authority the host uses.
    authoritySha256s: [],
    // An order to the agent counts only while the control plane repeats it.
    agentUpgrade: null,
    // Operations end without a new spec.
    operations: [],
  };
  return {
    ...ledger,
    spec: accepted,
    vms: factsFor(accepted, { ledger, holdings: acceptance.holdings }),
    refused: refusedIn(ledger, acceptance),
  };
}

function factsFor(
  spec: HostSpec,
  { ledger, holdings }: { ledger: LedgerContent; holdings: Holdings },
): Record<string, VmFacts> {
  const wanted = new Set(spec.vms.map((vm) => vm.id));
  const takenDown = new Set(spec.takeDowns.map((vm) => vm.id));
  const found = new Set([...holdings.domains, ...holdings.devices].map(({ vmId }) => vmId));
  const vms: Record<string, VmFacts> = {};
  for (const [vmId, facts] of Object.entries(ledger.vms)) {
    if (wanted.has(vmId)) {
      vms[vmId] = {
        ...{ ...facts, receipts: [], takenDownRevision: '', shutdownAskedMs: 0 },
        lastEntry: null,
      };
    } else if (takenDown.has(vmId)) {
      vms[vmId] = facts;
    } else if (found.has(vmId)) {
      const last = entryOf(ledger.spec, vmId);
      vms[vmId] = last && !last.takeDown ? { ...facts, lastEntry: withoutKeys(last.vm) } : facts;
    }
  }
  return vms;
}

/** Reports carry the entry, and a key of a volume goes to no other host and into no database. */
function withoutKeys(vm: VmSpec): VmSpec {
  return { ...vm, disks: vm.disks.map((disk) => ({ ...disk, rbd: null, cephfs: null })) };
}

/** A VM that is refused again for the same reason was refused since the first time. */
function refusedIn(
  ledger: LedgerContent,
  { spec, refusals, nowMs }: Acceptance,
): Record<string, RefusedVm> {
  const entries = [...spec.vms, ...spec.takeDowns].flatMap(({ id, revision }) => {
    const refusal = refusals.get(id);
    if (!refusal) return [];
    const before = ledger.refused?.[id]?.failure;
    const sinceMs = before?.code === refusal.code ? before.sinceMs : nowMs;
    return [[id, { revision, failure: { ...refusal, sinceMs } }] as const];
  });
  return Object.fromEntries(entries);
}
