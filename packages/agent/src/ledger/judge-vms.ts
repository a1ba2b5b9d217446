import type { Device, Domain } from '../host-driver.ts';
import type { HostSpec, VmSpec } from '../spec.ts';
import type { LedgerContent } from './ledger.ts';
import { ageProblem, takeDownProblem, vmProblem } from './spec-problem.ts';

/**
 * The VMs of a spec that the agent refuses, with the reason for each. The scheduler and its database
 * enforce the same rules; these checks do not rely on them, so that no mistake in the control plane
 * makes two VMs share a device. All other VMs of the spec are accepted.
 */
export type Refusals = ReadonlyMap<string, { code: string; message: string }>;
export type Holdings = { domains: readonly Domain[]; devices: readonly Device[] };

type Known = { ledger: LedgerContent; holdings: Holdings };

export function refusedVms(spec: HostSpec, known: Known): Refusals {
  const refusals = new Map<string, { code: string; message: string }>();
  const refuse = (vmId: string, code: string, problem: string | null) => {
    if (problem !== null && !refusals.has(vmId))
      refusals.set(vmId, { code, message: `refused: ${problem}` });
  };
  for (const vm of spec.vms) refuse(vm.id, 'agent_too_old', ageProblem(vm.needs));
  for (const vm of spec.vms) refuse(vm.id, 'bad_spec', vmProblem(vm));
  for (const vm of spec.takeDowns) refuse(vm.id, 'bad_spec', takeDownProblem(vm));
  const holders = holdersOf(known);
  const named = namedIn(spec);
  for (const vm of spec.vms) refuse(vm.id, 'device_in_use', deviceConflict(vm, { holders, named }));
  return refusals;
}

type Owners = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * A device that another VM holds is refused. If the spec names a device for two VMs, the VM that holds
 * it keeps it; if neither holds it, neither gets it. A device that is still to be cleaned after one VM
 * cannot belong to another VM yet.
 */
function deviceConflict(
  vm: VmSpec,
  { holders, named }: { holders: Owners; named: Owners },
): string | null {
  const addresses = vm.devices.map(({ address }) => address);
  for (const [index, address] of addresses.entries()) {
    if (addresses.indexOf(address) !== index) return `${address} is named twice for VM ${vm.id}`;
    const holding = holders.get(address) ?? new Set();
    const other = [...holding].find((holder) => holder !== vm.id);
    if (other !== undefined) return `${address}, named for VM ${vm.id}, is in use by VM ${other}`;
    const rival = [...(named.get(address) ?? [])].find((vmId) => vmId !== vm.id);
    if (rival !== undefined && !holding.has(vm.id))
      return `${address} is named for VM ${rival} and for VM ${vm.id}`;
  }
  return null;
}

function namedIn(spec: HostSpec): Owners {
  const named = new Map<string, Set<string>>();
  for (const vm of [...spec.vms, ...spec.takeDowns])
    for (const { address } of vm.devices) add(named, address, vm.id);
  return named;
}

/** The VMs that have each device, or that were accepted for it and are perhaps being bound to it now. */
function holdersOf({ ledger, holdings }: Known): Owners {
  const holders = new Map<string, Set<string>>();
  for (const { vmId, address } of holdings.devices) add(holders, address, vmId);
  for (const { vmId, devices } of holdings.domains)
    for (const { address } of devices) add(holders, address, vmId);
  for (const { id, devices } of ledger.spec?.vms ?? [])
    for (const { address } of devices) add(holders, address, id);
  for (const { id, devices } of ledger.spec?.takeDowns ?? []) {
    const cleaned = new Set(ledger.vms[id]?.receipts.map((receipt) => receipt.pciAddress));
    for (const { address } of devices) if (!cleaned.has(address)) add(holders, address, id);
  }
  return holders;
}

function add(owners: Map<string, Set<string>>, address: string, vmId: string): void {
  owners.set(address, (owners.get(address) ?? new Set()).add(vmId));
}
