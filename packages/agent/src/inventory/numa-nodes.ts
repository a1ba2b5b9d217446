import type { Sysfs } from '../base/sysfs.ts';

export type NumaNode = {
  id: number;
  cpus: string;
  memoryBytes: number;
  /** Absent: it has no CPUs, or the kernel does not report it. */
  socket?: number;
  /** To all nodes, by number. Absent: the kernel does not report them. */
  distances?: number[];
  hugepages: { pageKib: number; total: number; free: number }[];
};

/** The folder of the nodes in sysfs. */
export const NUMA_NODES = 'devices/system/node';

export async function readNumaNodes(sysfs: Sysfs): Promise<NumaNode[]> {
  const nodes: NumaNode[] = [];
  for (const name of await sysfs.list(NUMA_NODES)) {
    const id = /^node(\d+)$/.exec(name)?.[1];
    if (id === undefined) continue;
    const cpus = (await sysfs.text(`${NUMA_NODES}/${name}/cpulist`)) ?? '';
    const socket = await readSocket(sysfs, cpus);
    nodes.push({
      id: Number(id),
      cpus,
      ...(socket !== undefined && { socket }),
      ...parseDistances(await sysfs.text(`${NUMA_NODES}/${name}/distance`)),
      memoryBytes: parseMemTotal(await sysfs.text(`${NUMA_NODES}/${name}/meminfo`)),
      hugepages: await readHugepages(sysfs, `${NUMA_NODES}/${name}/hugepages`),
    });
  }
  return nodes;
}

/** All CPUs of a node are in one socket, so the first one shows it. */
async function readSocket(sysfs: Sysfs, cpus: string): Promise<number | undefined> {
  const first = /^\d+/.exec(cpus)?.[0];
  if (first === undefined) return undefined;
  const socket = await sysfs.integer(`devices/system/cpu/cpu${first}/topology/physical_package_id`);
  // Some hypervisors show -1.
  return socket !== undefined && socket >= 0 ? socket : undefined;
}

/** "10 12 32 32", one number for each node of the host, by number. */
function parseDistances(text = ''): Pick<NumaNode, 'distances'> {
  const distances = text.split(/\s+/).filter(Boolean).map(Number);
  const isComplete = distances.every((distance) => Number.isInteger(distance) && distance > 0);
  return isComplete && distances.length > 0 ? { distances } : {};
}

async function readHugepages(sysfs: Sysfs, folder: string): Promise<NumaNode['hugepages']> {
  const pools: NumaNode['hugepages'] = [];
  for (const name of await sysfs.list(folder)) {
    const pageKib = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (pageKib === undefined) continue;
    pools.push({
      pageKib: Number(pageKib),
      total: (await sysfs.integer(`${folder}/${name}/nr_hugepages`)) ?? 0,
      free: (await sysfs.integer(`${folder}/${name}/free_hugepages`)) ?? 0,
    });
  }
  return pools;
}

/** "Node 0 MemTotal:  263840372 kB" */
function parseMemTotal(meminfo: string | undefined): number {
  return Number(/MemTotal:\s+(\d+) kB/.exec(meminfo ?? '')?.[1] ?? 0) * 1_024;
}
