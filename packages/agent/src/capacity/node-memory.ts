import { GIB, KIB, MIB } from '@gantry/daemon/units';
import type { CapacitySettings } from './capacity-settings.ts';

type Settings = Pick<CapacitySettings, 'hostMemoryGib' | 'hostMemoryPercent'>;
type Pool = { pageKib: number; total: number };
type NodeMemory = { memoryBytes: number; hugepages: readonly Pool[] };

/** On small hosts, the fixed part of what the host keeps is at most this share of each node. */
const MOST_FIXED_SHARE = 1 / 8;

/**
 * Returns for each node the bytes that are left for VMs after the host has kept its part: a fixed
 * amount for the operating system, and a share that grows with the server for page tables, QEMU and
 * the page cache.
 */
function spareBytes(nodes: readonly NodeMemory[], settings: Settings): number[] {
  const withMemory = nodes.filter(({ memoryBytes }) => memoryBytes > 0).length;
  const fixedBytes = (settings.hostMemoryGib * GIB) / Math.max(1, withMemory);
  return nodes.map(({ memoryBytes }) => {
    const kept =
      Math.min(fixedBytes, memoryBytes * MOST_FIXED_SHARE) +
      (memoryBytes * settings.hostMemoryPercent) / 100;
    return Math.max(0, Math.floor(memoryBytes - kept));
  });
}

/** Returns for each node how many pages of 1 GiB the agent reserves at boot. */
export function pagesToReserve(nodes: readonly NodeMemory[], settings: Settings): number[] {
  return spareBytes(nodes, settings).map((bytes) => Math.floor(bytes / GIB));
}

/**
 * Returns for each node the memory for VMs. If pages are reserved, it is the largest pool, because a
 * VM uses pages of one size, and the memory outside the pools belongs to the host.
 */
export function memoryForVmsMib(nodes: readonly NodeMemory[], settings: Settings): number[] {
  const spare = spareBytes(nodes, settings);
  return nodes.map(({ hugepages }, index) => {
    const pools = hugepages.map(({ pageKib, total }) => pageKib * total * KIB);
    return Math.floor((Math.max(0, ...pools) || (spare[index] ?? 0)) / MIB);
  });
}
