import type { Device, Domain } from '../host-driver.ts';
import { type HostSpec, isBelow } from '../spec.ts';
import type { LedgerContent, VmFacts } from './ledger.ts';
import { specProblem } from './spec-problem.ts';

/**
 * The checks that a spec must pass before the agent accepts it. The scheduler and its database
 * enforce the same rules; these checks do not rely on them, so that no mistake in the control plane
 * makes two VMs share a device or lets an old scheduler undo a newer one. A refused spec changes
 * nothing.
 */
export type Holdings = { domains: readonly Domain[]; devices: readonly Device[] };
export type Verdict =
  | { accepted: true; isNew: boolean }
  | { accepted: false; code: string; message: string };

type Known = { ledger: LedgerContent; holdings: Holdings };

export function judgeSpec(spec: HostSpec, { ledger, holdings }: Known): Verdict {
  const bad = specProblem(spec);
  if (bad !== null) return { accepted: false, code: 'bad_spec', message: `refused: ${bad}` };
  const last = ledger.spec?.number ?? '0';
  if (spec.number === last) return { accepted: true, isNew: false };
  if (isBelow(spec.number, last)) {
    const message = `refused: its number ${spec.number} is below ${last}, which was accepted already`;
    return { accepted: false, code: 'stale_number', message };
  }
  const conflict = sharedInSpec(spec) ?? heldByAnother(spec, { ledger, holdings });
  if (conflict === null) return { accepted: true, isNew: true };
  return { accepted: false, code: 'device_in_use', message: `refused: ${conflict}` };
}

/** A device that is still to be cleaned after one VM cannot belong to another VM yet. */
function sharedInSpec(spec: HostSpec): string | null {
  const owners = new Map<string, string>();
  for (const vm of [...spec.vms, ...spec.deleted]) {
    for (const { address } of vm.devices) {
      const other = owners.get(address);
      if (other !== undefined) return `${address} is named for VM ${other} and for VM ${vm.id}`;
      owners.set(address, vm.id);
    }
  }
  return null;
}

function heldByAnother(spec: HostSpec, { ledger, holdings }: Known): string | null {
  const holders = new Map<string, Set<string>>();
  const hold = (address: string, vmId: string) =>
    holders.set(address, (holders.get(address) ?? new Set()).add(vmId));

  for (const { vmId, address } of holdings.devices) hold(address, vmId);
  for (const domain of holdings.domains) {
    for (const { address } of domain.devices) hold(address, domain.vmId);
  }
  // Accepted earlier, and perhaps being bound at this moment.
  for (const vm of ledger.spec?.vms ?? []) {
    for (const { address } of vm.devices) hold(address, vm.id);
  }
  for (const vm of ledger.spec?.deleted ?? []) {
    const cleaned = new Set(ledger.vms[vm.id]?.receipts.map((receipt) => receipt.pciAddress));
    for (const { address } of vm.devices) {
      if (!cleaned.has(address)) hold(address, vm.id);
    }
  }

  for (const vm of spec.vms) {
    for (const { address } of vm.devices) {
      const other = [...(holders.get(address) ?? [])].find((holder) => holder !== vm.id);
      if (other !== undefined) return `${address}, named for VM ${vm.id}, is in use by VM ${other}`;
    }
  }
  return null;
}

/**
 * Returns the ledger with this spec, without facts about VMs that are neither in the spec nor on
 * the host.
 */
export function withSpec(
  ledger: LedgerContent,
  { spec, holdings }: { spec: HostSpec; holdings: Holdings },
): LedgerContent {
  const wanted = new Set(spec.vms.map((vm) => vm.id));
  const deleted = new Set(spec.deleted.map((vm) => vm.id));
  const found = new Set([...holdings.domains, ...holdings.devices].map(({ vmId }) => vmId));
  const vms: Record<string, VmFacts> = {};
  for (const [vmId, facts] of Object.entries(ledger.vms)) {
    if (wanted.has(vmId)) {
      vms[vmId] = { ...facts, receipts: [], deletedRevision: '', shutdownAskedMs: 0 };
    } else if (deleted.has(vmId) || found.has(vmId)) {
      vms[vmId] = facts;
    }
  }
  // A console belongs to the stream that asked for it, so it is not stored.
  return { ...ledger, spec: { ...spec, consoles: [] }, vms };
}
