import type { NumaShare__Output as NumaShare } from '@gantry/proto/generated/gantry/v1/NumaShare';
import { formatCpuList } from '../../capacity/cpu-list.ts';
import type { Core } from '../../capacity/node-cpus.ts';
import type { VmSpec } from '../../spec.ts';
import type { GuestCell } from './domain-definition.ts';

/** A NUMA node of the host, as domains use it. */
export type HostNode = {
  id: number;
  hugepages: readonly { pageKib: number; total: number }[];
  /** Its physical cores for VMs. */
  cores: readonly Core[];
  /** The CPUs for emulators and their I/O threads, in the kernel's list format. */
  hostCpus: string;
  /**
   * The CPUs that are reserved for this VM, one pin per core. If absent or fewer than its cores on this
   * node, its vCPUs share all cores for VMs.
   */
  vcpuPins?: readonly string[];
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

/** Returns the CPUs of the emulator's own threads: those of the VM's nodes. Empty: any CPU. */
export function hostCpusOf(vm: VmSpec, nodes: readonly HostNode[]): string {
  const own = nodes.filter(({ id }) => vm.numaShares.some(({ node }) => node === id));
  return own
    .map(({ hostCpus }) => hostCpus)
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

/**
 * Returns how many threads a core of the guest has. It is more than one if the vCPUs of every guest core
 * are pinned to all threads of one host core: then the guest's scheduler knows which CPUs share a core.
 */
export function threadsPerCore(cells: readonly GuestCell[], nodes: readonly HostNode[]): number {
  const cores = nodes.flatMap((node) => node.cores);
  const first = cells[0]?.vcpuPins[0];
  const threads = cores.find((core) => core.some((cpu) => String(cpu) === first))?.length ?? 1;
  const known = new Set(
    cores.filter(({ length }) => length === threads).map((core) => core.join()),
  );
  const isCore = (pins: readonly string[], start: number) =>
    known.has(pins.slice(start, start + threads).join());
  const areCores = cells.every(({ vcpuPins }) =>
    vcpuPins.every((_, index) => index % threads !== 0 || isCore(vcpuPins, index)),
  );
  return areCores ? threads : 1;
}

/** The reserved CPUs, one pin per core, or otherwise all cores of the node that are for VMs. */
function pinsOf(share: NumaShare, nodes: readonly HostNode[]): string[] {
  const node = nodes.find(({ id }) => id === share.node);
  const reserved = node?.vcpuPins ?? [];
  if (reserved.length >= share.cpuCores) return reserved.slice(0, share.cpuCores);
  const all = formatCpuList(node?.cores.flat() ?? []);
  return Array.from({ length: share.cpuCores }, () => all);
}
