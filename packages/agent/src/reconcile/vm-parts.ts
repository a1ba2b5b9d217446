import type { VmSpec, VmTakeDown } from '../spec.ts';
import type { HostContext } from './host-context.ts';
import { ensureAttachedDisks } from './parts/attached-disks.ts';
import { devicePart } from './parts/devices.ts';
import { domain, resetDomain } from './parts/domain.ts';
import { network } from './parts/network.ts';
import type { Part, Removal } from './parts/part.ts';
import { seed } from './parts/seed.ts';
import { volumes } from './parts/volumes.ts';

/**
 * The parts of a VM, in the order in which they are brought up. They are taken down in reverse.
 * Every part is idempotent: after a crash the worker starts again with the first.
 */
const PARTS: readonly Part[] = [
  volumes, // the disks; the boot disk is made from its image
  seed, // what cloud-init reads when the guest boots
  network, // firewall rules, then the interfaces
  devicePart('gpu'), // assigned through VFIO; reset when the VM is taken down
  devicePart('drive'), // assigned whole or as blocks; erased when the VM is taken down
  domain, // the libvirt domain, defined and started
];

/** One unit of work that is retried as a whole. */
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

/**
 * What can change while the guest runs. The definition comes last because it carries the revision:
 * a domain with the new revision has everything else too.
 */
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
