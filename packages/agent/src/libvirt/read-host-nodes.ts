import type { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from '../capacity/capacity-settings.ts';
import { formatCpuList } from '../capacity/cpu-list.ts';
import { readNodeCpus } from '../capacity/node-cpus.ts';
import { readNumaNodes } from '../inventory/numa-nodes.ts';
import type { HostNode } from './domain-xml/choose-cells.ts';

/** Reads the NUMA nodes of the host as domains use them. */
export async function readHostNodes(sysfs: Sysfs, settings: CapacitySettings): Promise<HostNode[]> {
  const nodes = await readNumaNodes(sysfs);
  const cpus = await readNodeCpus(sysfs, nodes, settings);
  return nodes.map(({ id, hugepages }, index) => {
    const { forHost = [], forVms = [] } = cpus[index] ?? {};
    // A small node keeps no core for the host. Its emulators run beside its vCPUs.
    const hostCores = forHost.length > 0 ? forHost : forVms;
    return { id, hugepages, cores: forVms, hostCpus: formatCpuList(hostCores.flat()) };
  });
}
