import { chooseHost } from '@gantry/placement/choose-host';
import type { PlacementHost, PlacementRequest } from '@gantry/placement/host';
import { newHostIndex } from '@gantry/placement/host-index';
import { fragmentationFor } from './fragmentation.ts';
import { nodesOf, type TracePool, waysOf } from './pools.ts';
import { type FreeNodes, type MakePlacer, scanning } from './scanning.ts';
import type { TraceHost, TraceRequest } from './trace.ts';

export const OTHERS: Record<string, MakePlacer> = {
  'first-fit': scanning(({ at }) => at),
  'best-fit': scanning(({ host, after }) => sum(after.gpus) + rest(host, after) / 100),
  'best-fit, all': scanning(
    ({ host, after }) => sum(after.gpus) / sum(host.gpusByNode) + rest(host, after),
  ),
  'worst-fit': scanning(({ host, after }) => -sum(after.gpus) - rest(host, after) / 100),
  'frag. descent': (pool) => {
    const fragmentation = fragmentationFor(pool.requests);
    return scanning(
      ({ host, before, after }) => fragmentation(host, after) - fragmentation(host, before),
    )(pool);
  },
};

/** The strategies above keep the admission rules of Gantry. This one does not, for comparison. */
export const SPLITTING = scanning(({ host, after }) => sum(after.gpus) + rest(host, after) / 100, {
  maySplit: true,
});

function sum(amounts: number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** The free share of the host's cores plus that of its memory. */
function rest(host: TraceHost, free: FreeNodes): number {
  return sum(free.cpuMilli) / host.cpuMilli + sum(free.memoryMib) / host.memoryMib;
}

/** The functions of the product. */
export const gantry: MakePlacer = ({ hosts, requests }: TracePool) => {
  const index = newHostIndex();
  hosts.forEach((host, i) => {
    index.put(hostFor(i, host));
  });
  const asked = requests.map(requestFor);
  return {
    place: (kind) => {
      const request = asked[kind];
      if (!request) return null;
      const reply = chooseHost(index, request);
      if ('reasons' in reply) return null;
      index.claim(reply);
      const host = hosts[Number(reply.hostId)];
      const needed = host ? nodesOf(waysOf(host, request.gpuCount)[0] ?? []) : 0;
      return {
        split: reply.numaNodes.filter(({ gpus }) => gpus > 0).length > needed,
        release: () => index.release(reply),
      };
    },
  };
};

/** A core of the library is a thousandth of a core of the trace, because the trace counts those. */
function hostFor(id: number, { gpusByNode, cpuMilli, memoryMib }: TraceHost): PlacementHost {
  const nodes = gpusByNode.length;
  return {
    ...{ id: String(id), location: 'one' },
    ...{ ready: true, adminState: 'active', drifted: false, trouble: '' },
    size: { cores: cpuMilli, memoryMib },
    numaNodes: gpusByNode.map((_, node) => ({
      ...{ node, cores: cpuMilli / nodes, memoryMib: memoryMib / nodes, networkGbps: 0 },
    })),
    gpus: gpusByNode.flatMap((gpus, node) =>
      Array.from({ length: gpus }, (_, i) => ({
        ...{ id: `${id}-${node}-${i}`, model: 'any', numaNode: node },
        ...{ pcieSwitch: `${node}-${i >> 1}`, iommuGroup: node * 64 + i, nvlinkPeer: null },
        state: 'free' as const,
      })),
    ),
    companions: [],
  };
}

function requestFor({ gpus, cpuMilli, memoryMib }: TraceRequest): PlacementRequest {
  return {
    ...{ location: 'one', gpuModel: 'any', gpuCount: gpus, cores: cpuMilli, memoryMib },
    ...{ companions: [], networkGbps: 0 },
  };
}
