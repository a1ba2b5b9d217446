import type { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from '../capacity/capacity-settings.ts';
import { type NodeCpus, readNodeCpus } from '../capacity/node-cpus.ts';
import { memoryForVmsMib } from '../capacity/node-memory.ts';
import type { NumaNode } from './numa-nodes.ts';

/** What VMs can have of a node. The scheduler places VMs by these numbers. */
export type Offer = { offeredCores: number; offeredMemoryMib: number };

/** Adds to each node what it offers to VMs. */
export async function offerNodes(
  sysfs: Sysfs,
  nodes: readonly NumaNode[],
  settings: CapacitySettings,
): Promise<(NumaNode & Offer)[]> {
  const cpus = await readNodeCpus(sysfs, nodes, settings);
  const memoryMib = memoryForVmsMib(nodes, settings);
  return nodes.map((node, index) => ({
    ...node,
    offeredCores: coresForVms(cpus[index], settings),
    offeredMemoryMib: memoryMib[index] ?? 0,
  }));
}

function coresForVms(cpus: NodeCpus | undefined, { core }: CapacitySettings): number {
  const cores = cpus?.forVms ?? [];
  return core === 'core' ? cores.length : cores.flat().length;
}
