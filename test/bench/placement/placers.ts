import { chooseHost } from '@gantry/placement/choose-host';
import type { PlacementHost, PlacementRequest } from '@gantry/placement/host';
import { newHostIndex } from '@gantry/placement/host-index';
import type { TraceHost } from './trace.ts';

/** A placed VM. `split`: it is on more than one NUMA node. */
export type Placed = { host: number; split: boolean; release: () => void };
export type Placer = {
  place: (gpus: number) => Placed | null;
  /** Empty hosts. */
  whole: () => number;
};
export type MakePlacer = (hosts: TraceHost[], sizes: number[], random: () => number) => Placer;

export const PLACERS: Record<string, MakePlacer> = {
  random: (hosts, _sizes, random) => {
    const weights = new Float64Array(hosts.length);
    return scanning(hosts, (host) => {
      weights[host] = random();
      return weights[host] ?? 0;
    });
  },
  'first-fit': (hosts) => scanning(hosts, (host) => host),
  'best-fit': (hosts) => scanning(hosts, (_host, free) => free),
  'frag. descent': (hosts, sizes) => {
    const fragments = fragmentation(sizes);
    return scanning(
      hosts,
      (_host, free, gpus) => (fragments[free - gpus] ?? 0) - (fragments[free] ?? 0),
    );
  },
  gantry: (hosts) => ours(hosts, false),
  'may split': (hosts) => ours(hosts, true),
};

/**
 * Fragmentation of a host by its free GPUs: how many of them a request drawn from the trace cannot
 * use, on average. Gradient descent puts a VM where this grows least, or falls most
 * (Weng et al., Beware of Fragmentation, USENIX ATC 2023).
 */
function fragmentation(sizes: number[]): number[] {
  return Array.from({ length: 65 }, (_, free) => {
    const useless = sizes.filter((size) => size > free).length / sizes.length;
    return free * useless;
  });
}

/** Chooses the host with the lowest rank, the first one of equals, and its first free GPUs. */
function scanning(
  hosts: TraceHost[],
  rank: (host: number, free: number, gpus: number) => number,
): Placer {
  const nodeFree = hosts.map((nodes) => [...nodes]);
  const free = hosts.map((nodes) => nodes.reduce((sum, gpus) => sum + gpus, 0));
  const size = [...free];
  let whole = hosts.length;
  return {
    place: (gpus) => {
      let host = -1;
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < free.length; i += 1) {
        const here = free[i] ?? 0;
        if (here < gpus) continue;
        const ranked = rank(i, here, gpus);
        if (ranked < least) {
          host = i;
          least = ranked;
        }
      }
      if (host < 0) return null;
      const nodes = nodeFree[host] ?? [];
      const taken = takeFirst(nodes, gpus);
      if (free[host] === size[host]) whole -= 1;
      free[host] = (free[host] ?? 0) - gpus;
      return {
        host,
        split: taken.filter((count) => count > 0).length > 1,
        release: () => {
          free[host] = (free[host] ?? 0) + gpus;
          if (free[host] === size[host]) whole += 1;
          taken.forEach((count, node) => {
            nodes[node] = (nodes[node] ?? 0) + count;
          });
        },
      };
    },
    whole: () => whole,
  };
}

function takeFirst(nodes: number[], gpus: number): number[] {
  let missing = gpus;
  return nodes.map((free, node) => {
    const count = Math.min(free, missing);
    missing -= count;
    nodes[node] = free - count;
    return count;
  });
}

/** The functions of the product. Requests have only GPUs, as for the other strategies. */
function ours(hosts: TraceHost[], maySplit: boolean): Placer {
  const index = newHostIndex();
  hosts.forEach((nodes, i) => {
    index.put(hostWith(i, nodes));
  });
  const used = new Map<string, number>();
  const count = (hostId: string, change: number) => {
    const vms = (used.get(hostId) ?? 0) + change;
    if (vms > 0) used.set(hostId, vms);
    else used.delete(hostId);
  };
  return {
    place: (gpus) => {
      const reply = chooseHost(index, { ...requestFor(gpus), maySplit });
      if ('reasons' in reply) return null;
      index.claim(reply);
      count(reply.hostId, 1);
      return {
        host: Number(reply.hostId),
        split: reply.numaNodes.length > 1,
        release: () => {
          index.release(reply);
          count(reply.hostId, -1);
        },
      };
    },
    whole: () => hosts.length - used.size,
  };
}

function hostWith(id: number, nodes: TraceHost): PlacementHost {
  return {
    ...{ id: String(id), location: 'one' },
    ...{ ready: true, adminState: 'active', drifted: false },
    numaNodes: nodes.map((_, node) => ({ node, cores: 0, memoryMib: 0, networkGbps: 0 })),
    gpus: nodes.flatMap((gpus, node) =>
      Array.from({ length: gpus }, (_, i) => ({
        ...{ id: `${id}-${node}-${i}`, model: 'any', numaNode: node },
        ...{ pcieSwitch: `${node}-${i >> 1}`, iommuGroup: node * 64 + i, nvlinkPeer: null },
        state: 'free' as const,
      })),
    ),
    companions: [],
  };
}

function requestFor(gpuCount: number): PlacementRequest {
  const nothing = { cores: 0, memoryMib: 0, companions: [], networkGbps: 0 };
  return { location: 'one', gpuModel: 'any', gpuCount, ...nothing };
}
