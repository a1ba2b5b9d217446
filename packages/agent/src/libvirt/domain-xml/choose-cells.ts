import type { NumaShare__Output as NumaShare } from '@gantry/proto/generated/gantry/v1/NumaShare';
import type { VmSpec } from '../../spec.ts';
import type { GuestCell } from './domain-definition.ts';

/** A NUMA node of the host, as in its inventory, and its CPUs that are reserved for one VM. */
export type HostNode = {
  id: number;
  /** In the kernel's list format. */
  cpus: string;
  hugepages: readonly { pageKib: number; total: number }[];
  /**
   * Host CPUs reserved for this VM. If absent or fewer than its cores, it may use the whole node.
   */
  dedicatedCpus?: readonly number[];
};

/**
 * Returns one guest cell per node that provides memory. A cell needs memory, so the cores of a node
 * that provides none are in the first cell; they still run on their own node.
 */
export function chooseCells(vm: VmSpec, nodes: readonly HostNode[]): GuestCell[] {
  const shares = vm.numaShares.filter(({ node }) => nodes.some(({ id }) => id === node));
  const withMemory = shares.filter(({ memoryMib }) => memoryMib > 0);
  // If a node is missing, the whole list is ignored, so that a VM whose shares were chosen on other
  // hardware still starts.
  if (withMemory.length === 0 || shares.length < vm.numaShares.length) {
    const vcpuPins = Array.from({ length: vm.cpuCores }, () => '');
    return [{ hostNode: null, memoryMib: vm.memoryMib, vcpuPins }];
  }
  const stray = shares.filter(({ memoryMib }) => memoryMib === 0);
  return withMemory.map((share, index) => ({
    hostNode: share.node,
    memoryMib: share.memoryMib,
    vcpuPins: [share, ...(index === 0 ? stray : [])].flatMap((each) => pinsOf(each, nodes)),
  }));
}

/** Returns the CPUs of the emulator's own threads: all CPUs of the VM's nodes. Empty: any CPU. */
export function hostCpusOf(vm: VmSpec, nodes: readonly HostNode[]): string {
  const own = nodes.filter(({ id }) => vm.numaShares.some(({ node }) => node === id));
  return own
    .map(({ cpus }) => cpus)
    .filter((cpus) => cpus !== '')
    .join(',');
}

/**
 * Returns the largest page size that divides every cell and that each node has enough pages of, or
 * null.
 */
export function chooseHugepages(
  cells: readonly GuestCell[],
  nodes: readonly HostNode[],
): number | null {
  const fits = (pageKib: number) =>
    cells.every(({ hostNode, memoryMib }) => {
      const memoryKib = memoryMib * 1_024;
      const pools = nodes
        .filter(({ id }) => hostNode === null || id === hostNode)
        .flatMap(({ hugepages }) => hugepages)
        .filter((pool) => pool.pageKib === pageKib);
      const pages = pools.reduce((total, pool) => total + pool.total, 0);
      return memoryKib % pageKib === 0 && pages * pageKib >= memoryKib;
    });
  const sizes = new Set(nodes.flatMap(({ hugepages }) => hugepages.map(({ pageKib }) => pageKib)));
  return [...sizes].sort((a, b) => b - a).find(fits) ?? null;
}

/** One CPU per core if CPUs were reserved, otherwise all CPUs of the node. */
function pinsOf(share: NumaShare, nodes: readonly HostNode[]): string[] {
  const node = nodes.find(({ id }) => id === share.node);
  const dedicated = node?.dedicatedCpus ?? [];
  const hasOwn = dedicated.length >= share.cpuCores;
  return Array.from({ length: share.cpuCores }, (_, index) =>
    hasOwn ? String(dedicated[index]) : (node?.cpus ?? ''),
  );
}
