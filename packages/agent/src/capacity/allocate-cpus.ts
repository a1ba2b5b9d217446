import type { CapacitySettings } from './capacity-settings.ts';
import { formatCpuList, parseCpuList } from './cpu-list.ts';
import type { Core } from './node-cpus.ts';

type CpuRequest = {
  /** The host's nodes with their cores for VMs. */
  nodes: readonly { id: number; cores: readonly Core[] }[];
  core: CapacitySettings['core'];
  /** The cores that the VM gets of each node. */
  shares: readonly { node: number; cpuCores: number }[];
  /** The pins of the VM's domain, one per vCPU. Empty: it has no domain yet. */
  present: readonly string[];
  /** The pins of all other domains. */
  others: readonly string[];
};

/** For each node one pin per core of the VM, or null if the node has too few free CPUs. */
export type CpuAllocation = ReadonlyMap<number, readonly string[] | null>;

/**
 * Chooses the host CPUs of a VM: a hardware thread or a physical core for each of its cores, which no
 * other domain has. A domain keeps the CPUs that it has if they are still valid. Otherwise the VM gets
 * whole physical cores, so that it shares none with another VM. The odd thread of a VM comes from a
 * core that is shared already, so that whole cores are left for others.
 *
 * Pure and deterministic: which CPUs are in use follows from the definitions of the domains alone.
 */
export function allocateCpus({ nodes, core, shares, present, others }: CpuRequest): CpuAllocation {
  const taken = cpusOf(others, nodes);
  return new Map(
    shares.map(({ node, cpuCores }) => {
      const cores = nodes.find(({ id }) => id === node)?.cores ?? [];
      const units = core === 'core' ? cores.map(formatCpuList) : cores.flat().map(String);
      const kept = present.filter((pin) => units.includes(pin));
      if (isValid(kept, cpuCores, taken)) return [node, kept];
      const free = cores.map((threads) => threads.filter((cpu) => !taken.has(cpu)));
      const whole = free.filter(({ length }, index) => length === cores[index]?.length);
      if (core === 'core') return [node, takeCores(whole, cpuCores)];
      const broken = free.filter(({ length }, index) => length !== cores[index]?.length);
      return [node, takeThreads(whole, broken, cpuCores)];
    }),
  );
}

/**
 * A pin to several cores reserves none of them: it belongs to a domain that was defined before there
 * were reservations, or that found no free CPUs.
 */
function cpusOf(pins: readonly string[], nodes: CpuRequest['nodes']): Set<number> {
  const coreOf = new Map(
    nodes.flatMap(({ cores }) => cores.flatMap((core) => core.map((cpu) => [cpu, core] as const))),
  );
  const reserved = pins.map(parseCpuList).filter((cpus) => {
    const cores = new Set(cpus.map((cpu) => coreOf.get(cpu)));
    return cores.size === 1;
  });
  return new Set(reserved.flat());
}

function isValid(pins: readonly string[], count: number, taken: ReadonlySet<number>): boolean {
  const cpus = pins.flatMap(parseCpuList);
  return (
    pins.length === count &&
    new Set(cpus).size === cpus.length &&
    cpus.every((cpu) => !taken.has(cpu))
  );
}

function takeCores(whole: readonly Core[], count: number): string[] | null {
  return whole.length < count ? null : whole.slice(0, count).map(formatCpuList);
}

/** Returns the threads of a core one after the other, so that a guest can see them as one core. */
function takeThreads(
  whole: readonly Core[],
  broken: readonly Core[],
  count: number,
): string[] | null {
  const chosen: number[] = [];
  const passed: Core[] = [];
  // Cores with more threads come first, so that one with a single thread is left for an odd count.
  for (const core of [...whole].sort((a, b) => b.length - a.length)) {
    if (chosen.length + core.length <= count) chosen.push(...core);
    else passed.push(core);
  }
  const rest = [...broken, ...passed].flat();
  chosen.push(...rest.slice(0, count - chosen.length));
  return chosen.length < count ? null : chosen.map(String);
}
