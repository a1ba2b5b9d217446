import type { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from './capacity-settings.ts';
import { parseCpuList } from './cpu-list.ts';

/** The hardware threads of one physical core, in ascending order. */
export type Core = readonly number[];

/** The physical cores of one NUMA node: those that the host keeps, and those for VMs. */
export type NodeCpus = { node: number; forHost: readonly Core[]; forVms: readonly Core[] };

type Settings = Pick<CapacitySettings, 'hostCores'>;

const CPUS = 'devices/system/cpu';
/** With fewer cores, a node cannot spare one for the host. */
const LEAST_TO_KEEP_ONE = 4;

/** Reads the cores of the nodes from sysfs and divides them. CPUs that are offline are left out. */
export async function readNodeCpus(
  sysfs: Sysfs,
  nodes: readonly { id: number; cpus: string }[],
  settings: Settings,
): Promise<NodeCpus[]> {
  const online = await sysfs.text(`${CPUS}/online`);
  const isOnline = online === undefined ? null : new Set(parseCpuList(online));
  const isolated = new Set(parseCpuList((await sysfs.text(`${CPUS}/isolated`)) ?? ''));
  return await Promise.all(
    nodes.map(async ({ id, cpus }) => {
      const present = parseCpuList(cpus).filter((cpu) => isOnline?.has(cpu) ?? true);
      return { node: id, ...divideCores(await readCores(sysfs, present), isolated, settings) };
    }),
  );
}

/** A CPU without topology, as in some containers and VMs, is a core of its own. */
async function readCores(sysfs: Sysfs, cpus: readonly number[]): Promise<Core[]> {
  const lists = await Promise.all(
    cpus.map((cpu) => sysfs.text(`${CPUS}/cpu${cpu}/topology/thread_siblings_list`)),
  );
  const cores = new Map<number, Core>();
  cpus.forEach((cpu, index) => {
    const siblings = parseCpuList(lists[index] ?? '').filter((other) => cpus.includes(other));
    const core = siblings.includes(cpu) ? siblings.sort((a, b) => a - b) : [cpu];
    cores.set(core[0] ?? cpu, core);
  });
  return [...cores.values()].sort(byFirstCpu);
}

/**
 * The host keeps the first cores, because most interrupts arrive there. It does not keep isolated CPUs
 * if there are others: the kernel's scheduler places none of the host's processes on them.
 */
function divideCores(cores: readonly Core[], isolated: ReadonlySet<number>, settings: Settings) {
  const count = settings.hostCores ?? (cores.length >= LEAST_TO_KEEP_ONE ? 1 : 0);
  const isIsolated = (core: Core) => core.some((cpu) => isolated.has(cpu));
  const ordered = [
    ...cores.filter((core) => !isIsolated(core)),
    ...cores.filter((core) => isIsolated(core)),
  ];
  return { forHost: ordered.slice(0, count), forVms: ordered.slice(count).sort(byFirstCpu) };
}

function byFirstCpu(a: Core, b: Core): number {
  return (a[0] ?? 0) - (b[0] ?? 0);
}
