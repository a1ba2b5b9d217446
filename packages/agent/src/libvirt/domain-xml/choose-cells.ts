import type { NumaShare__Output as NumaShare } from '@gantry/proto/generated/gantry/v1/NumaShare';
import type { VmSpec } from '../../spec.ts';
import type { GuestCell } from './domain-definition.ts';

/** A NUMA node of the host, as in its inventory, and the CPUs of it that are for one VM alone. */
export type HostNode = {
  id: number;
  /** The kernel's list form. */
  cpus: string;
  hugepages: readonly { pageKib: number; total: number }[];
  /** Host CPUs set aside for this VM. Absent, or fewer than its cores: it may use all of the node. */
  dedicatedCpus?: readonly number[];
};

/**
 * A cell of the guest for each node that gives it memory. Cores of a node that gives none go to the
 * first cell, for a cell needs memory, and run on their own node all the same.
 */
export function chooseCells(vm: VmSpec, nodes: readonly HostNode[]): GuestCell[] {
  const shares = vm.numaShares.filter(({ node }) => nodes.some(({ id }) => id === node));
  const withMemory = shares.filter(({ memoryMib }) => memoryMib > 0);
  // Without all of its nodes, a VM whose shares were chosen on other hardware still starts.
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

/** Where the emulator's own threads run: on any CPU of the VM's nodes. Empty: anywhere. */
export function hostCpusOf(vm: VmSpec, nodes: readonly HostNode[]): string {
  const own = nodes.filter(({ id }) => vm.numaShares.some(({ node }) => node === id));
  return own
    .map(({ cpus }) => cpus)
    .filter((cpus) => cpus !== '')
    .join(',');
}

/** The largest pages that every cell is a multiple of and its node has enough of. Null: none. */
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

/** One CPU for each core where they were set aside, otherwise the node's. */
function pinsOf(share: NumaShare, nodes: readonly HostNode[]): string[] {
  const node = nodes.find(({ id }) => id === share.node);
  const dedicated = node?.dedicatedCpus ?? [];
  const hasOwn = dedicated.length >= share.cpuCores;
  return Array.from({ length: share.cpuCores }, (_, index) =>
    hasOwn ? String(dedicated[index]) : (node?.cpus ?? ''),
  );
}
