import type { Sysfs } from '../base/sysfs.ts';

export type NumaNode = {
  id: number;
  cpus: string;
  memoryBytes: number;
  hugepages: { pageKib: number; total: number; free: number }[];
};

/** The folder of the nodes in sysfs. */
export const NUMA_NODES = 'devices/system/node';

export async function readNumaNodes(sysfs: Sysfs): Promise<NumaNode[]> {
  const nodes: NumaNode[] = [];
  for (const name of await sysfs.list(NUMA_NODES)) {
    const id = /^node(\d+)$/.exec(name)?.[1];
    if (id === undefined) continue;
    nodes.push({
      id: Number(id),
      cpus: (await sysfs.text(`${NUMA_NODES}/${name}/cpulist`)) ?? '',
      memoryBytes: parseMemTotal(await sysfs.text(`${NUMA_NODES}/${name}/meminfo`)),
      hugepages: await readHugepages(sysfs, `${NUMA_NODES}/${name}/hugepages`),
    });
  }
  return nodes;
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
