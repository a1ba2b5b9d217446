import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GIB, KIB } from '@gantry/daemon/units';
import { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from '../capacity/capacity-settings.ts';
import { keptBytes, pagesToReserve } from '../capacity/node-memory.ts';
import { NUMA_NODES, type NumaNode, readNumaNodes } from '../inventory/numa-nodes.ts';
import { spreadMemory } from '../inventory/spread-memory.ts';

export type Reservation = { node: number; pageKib: number; wanted: number; got: number };

type Host = {
  sysfsRoot: string;
  memoryBytes: number;
  settings: CapacitySettings;
  warn(message: string): void;
  /** Writes an attribute of the kernel. */
  write?: (path: string, text: string) => Promise<void>;
};

/**
 * Reserves the hugepages of every NUMA node, and returns what the kernel gave, which may be less. Pages
 * are only added: a VM may use those that exist. Repeating it changes nothing.
 */
export async function reserveHugepages({
  write = (path, text) => writeFile(path, text),
  ...host
}: Host): Promise<Reservation[]> {
  const sysfs = new Sysfs(host.sysfsRoot);
  const nodes = spreadMemory(await readNumaNodes(sysfs), host.memoryBytes, host.warn);
  const wanted = pagesToReserve(nodes, host.settings);
  const kept = keptBytes(nodes, host.settings);
  const reservations: Reservation[] = [];
  for (const [index, node] of nodes.entries()) {
    const { pageKib, pages } = wanted[index] ?? { pageKib: 0, pages: 0 };
    if (pages === 0) continue;
    const attribute = `${NUMA_NODES}/node${node.id}/hugepages/hugepages-${pageKib}kB/nr_hugepages`;
    const before = (await sysfs.integer(attribute)) ?? 0;
    const room = await roomFor(sysfs, node, { pageKib, keptBytes: kept[index] ?? 0 });
    const target = Math.min(pages, before + room);
    if (target > before) await write(join(host.sysfsRoot, attribute), String(target));
    const got = (await sysfs.integer(attribute)) ?? 0;
    reservations.push({ node: node.id, pageKib, wanted: pages, got });
  }
  return reservations;
}

/**
 * Returns how many pages can be added now. On a host that has been running for a while, memory that VMs
 * and programs use cannot become pages, and half of what the host keeps must stay available.
 */
async function roomFor(
  sysfs: Sysfs,
  { id }: NumaNode,
  { pageKib, keptBytes }: { pageKib: number; keptBytes: number },
): Promise<number> {
  const meminfo = (await sysfs.text(`${NUMA_NODES}/node${id}/meminfo`)) ?? '';
  const kib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(meminfo)?.[1] ?? 0);
  // The kernel drops its cache of files when it needs the memory.
  const availableKib = kib('MemFree') + kib('Active\\(file\\)') + kib('Inactive\\(file\\)');
  return Math.max(0, Math.floor((availableKib - keptBytes / KIB / 2) / pageKib));
}

/** One line for each node. */
export function describeReservation({ node, pageKib, wanted, got }: Reservation): string {
  const size = pageKib === GIB / KIB ? '1 GiB' : `${pageKib / KIB} MiB`;
  const line = `node ${node}: ${got} pages of ${size}`;
  if (got >= wanted) return line;
  return `${line}, ${wanted - got} fewer than wanted: a reboot gives the kernel more free memory`;
}
