import { HostFailure } from '../../base/failure.ts';
import type { VmSpec } from '../../spec.ts';
import type { DomainDefinition } from './domain-definition.ts';

const MIB_PER_GIB = 1_024;

/**
 * Throws `hugepages_missing` for a VM with more memory than `aboveMib` that would get ordinary memory: its
 * start would take minutes, and its page tables would slow it down. Null: no VM needs hugepages.
 */
export function requireHugepages(
  vm: Pick<VmSpec, 'id' | 'memoryMib'>,
  { memory }: Pick<DomainDefinition, 'memory'>,
  aboveMib: number | null,
): void {
  if (aboveMib === null || vm.memoryMib <= aboveMib || memory.hugepageKib !== null) return;
  const message =
    `VM ${vm.id} has ${vm.memoryMib / MIB_PER_GIB} GiB of memory, for which this host has too few ` +
    `hugepages; above ${aboveMib / MIB_PER_GIB} GiB VMs do not start without them`;
  throw new HostFailure('hugepages_missing', message);
}
