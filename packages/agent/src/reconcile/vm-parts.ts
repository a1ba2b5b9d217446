import type { VmSpec, VmTakeDown } from '../spec.ts';
import type { HostContext } from './host-context.ts';
import { ensureAttachedDisks } from './parts/attached-disks.ts';
import { devicePart } from './parts/devices.ts';
import { domain, resetDomain } from './parts/domain.ts';
import { network } from './parts/network.ts';
import type { Part, Removal } from './parts/part.ts';
import { seed } from './parts/seed.ts';
import { volumes } from './parts/volumes.ts';

/** Downwards to bring a VM up, upwards to take it down. */
const PARTS: readonly Part[] = [
  volumes,
  seed,
  network,
  devicePart('gpu'),
  devicePart('drive'),
  domain,
];

/** What is tried, and tried again, as one. */
export type Step = { name: string; run: () => Promise<void> };

export function stepsUp(host: HostContext, vm: VmSpec): Step[] {
  return PARTS.map((part) => ({ name: part.name, run: () => part.ensure(host, vm) }));
}

export function stepsDown(host: HostContext, vm: VmTakeDown, removal: Removal): Step[] {
  const steps = PARTS.map((part) => ({
    name: part.name,
    run: () => part.remove(host, vm, removal),
  })).reverse();
  const finish = () => host.ledger.updateFacts(vm.id, { deletedRevision: vm.revision });
  return [...steps, { name: 'ledger', run: finish }];
}

/** What can change under a running guest. Its definition comes last: it carries the revision. */
export function stepsAdjust(host: HostContext, vm: VmSpec): Step[] {
  return [
    { name: 'volumes', run: () => volumes.ensure(host, vm) },
    { name: 'network', run: () => network.ensure(host, vm) },
    { name: 'disks', run: () => ensureAttachedDisks(host, vm) },
    { name: 'definition', run: () => host.driver.hypervisor.define(vm) },
  ];
}

export function stepsReset(host: HostContext, vm: VmSpec): Step[] {
  const reset = { name: 'domain', run: () => resetDomain(host, vm) };
  return [reset, ...stepsAdjust(host, vm)];
}
