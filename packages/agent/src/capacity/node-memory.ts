import { GIB, KIB, MIB } from '@gantry/daemon/units';
import type { CapacitySettings } from './capacity-settings.ts';

type Settings = Pick<CapacitySettings, 'hostMemoryGib' | 'hostMemoryPercent'>;
type Pool = { pageKib: number; total: number };
type PagesOfNode = { pageKib: number; pages: number };
type NodeMemory = { memoryBytes: number; hugepages: readonly Pool[] };

/** On small hosts, the fixed part of what the host keeps is at most this share of each node. */
const MOST_FIXED_SHARE = 1 / 8;

/**
 * Returns for each node the bytes that the host keeps: a fixed amount for the operating system, and a
 * share that grows with the server for page tables, QEMU and the page cache.
 */
export function keptBytes(nodes: readonly NodeMemory[], settings: Settings): number[] {
  const withMemory = nodes.filter(({ memoryBytes }) => memoryBytes > 0).length;
  const fixedBytes = (settings.hostMemoryGib * GIB) / Math.max(1, withMemory);
  return nodes.map(
    ({ memoryBytes }) =>
      Math.min(fixedBytes, memoryBytes * MOST_FIXED_SHARE) +
      (memoryBytes * settings.hostMemoryPercent) / 100,
  );
}

/**
 * Returns for each node the hugepages that the agent reserves at boot: all memory that the host does not
 * keep and that is in no other pool. The pages are of 1 GiB, or of the next smaller size that the kernel
 * has. Zero pages: the kernel has no hugepages, or the node has no memory to spare.
 */
export function pagesToReserve(nodes: readonly NodeMemory[], settings: Settings): PagesOfNode[] {
  const spare = spareBytes(nodes, settings);
  return nodes.map(({ hugepages }, index) => {
    const sizes = hugepages.map(({ pageKib }) => pageKib).filter((kib) => kib <= GIB / KIB);
    const pageKib = Math.max(0, ...sizes);
    const others = hugepages.filter((pool) => pool.pageKib !== pageKib).map(bytesOf);
    const free = (spare[index] ?? 0) - others.reduce((sum, bytes) => sum + bytes, 0);
    const pages = pageKib === 0 ? 0 : Math.max(0, Math.floor(free / (pageKib * KIB)));
    return { pageKib, pages };
  });
}

/**
 * Returns for each node the memory for VMs. If pages are reserved, it is the largest pool, because a
 * VM uses pages of one size, and the memory outside the pools belongs to the host.
 */
export function memoryForVmsMib(nodes: readonly NodeMemory[], settings: Settings): number[] {
  const spare = spareBytes(nodes, settings);
  return nodes.map(({ hugepages }, index) => {
    const largest = Math.max(0, ...hugepages.map(bytesOf));
    return Math.floor((largest || (spare[index] ?? 0)) / MIB);
  });
}

function spareBytes(nodes: readonly NodeMemory[], settings: Settings): number[] {
  const kept = keptBytes(nodes, settings);
  return nodes.map(({ memoryBytes }, index) => Math.max(0, memoryBytes - (kept[index] ?? 0)));
}

function bytesOf({ pageKib, total }: Pool): number {
  return pageKib * total * KIB;
}
