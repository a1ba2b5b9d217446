import { nodesOf, spreads, type TracePool, waysOf } from './pools.ts';
import type { TraceHost, TraceRequest } from './trace.ts';

/** A placed VM. `split`: it is on more NUMA nodes than it needs. */
export type Placed = { split: boolean; release: () => void };
export type Placer = {
  /** Places a request of the pool, by its position there. */
  place: (request: number) => Placed | null;
};
export type MakePlacer = (pool: TracePool) => Placer;

/** What is free on each NUMA node of a host. */
export type FreeNodes = { gpus: number[]; cpuMilli: number[]; memoryMib: number[] };

/** A host, what is free on it before and after a VM is placed, and the position of the host. */
type Option = { host: TraceHost; at: number; before: FreeNodes; after: FreeNodes };

type Best = { rank: number; way: number[]; version: number };
const NEVER: Best = { rank: Number.POSITIVE_INFINITY, way: [], version: -1 };

/**
 * Places each VM where `rank` is lowest, on the first of equals. The admission rules are those of
 * Gantry: a VM that is not larger than a NUMA node is not split, and cores and memory may come from another
 * node than the GPUs. A node may therefore have less than nothing left. A rank depends on one host alone, so it is kept until that host changes.
 */
export function scanning(rank: (option: Option) => number, { maySplit = false } = {}): MakePlacer {
  return ({ hosts, requests }) => {
    const free = hosts.map(emptyHost);
    const versions = hosts.map(() => 0);
    const kept = requests.map(() => hosts.map(() => NEVER));
    const bestOn = (kind: number, at: number): Best => {
      const [request, host, before] = [requests[kind], hosts[at], free[at]];
      const best: Best = { ...NEVER, version: versions[at] ?? 0 };
      if (!request || !host || !before) return best;
      const { gpus } = request;
      for (const way of maySplit ? spreads(host.gpusByNode, gpus) : waysOf(host, gpus)) {
        const after = minus(before, way, request);
        if (!after) continue;
        const here = rank({ host, at, before, after }) + (maySplit ? nodesOf(way) * 1e6 : 0);
        if (here < best.rank) Object.assign(best, { rank: here, way });
      }
      return best;
    };
    const choose = (kind: number): { at: number; best: Best } => {
      const ranks = kept[kind] ?? [];
      const choice = { at: -1, best: NEVER };
      for (let at = 0; at < hosts.length; at += 1) {
        let here = ranks[at] ?? NEVER;
        if (here.version !== versions[at]) {
          here = bestOn(kind, at);
          ranks[at] = here;
        }
        if (here.rank < choice.best.rank) Object.assign(choice, { at, best: here });
      }
      return choice;
    };
    return {
      place: (kind) => {
        const { at, best } = choose(kind);
        const [request, host, there] = [requests[kind], hosts[at], free[at]];
        if (!request || !host || !there) return null;
        change(there, best.way, request, -1);
        versions[at] = (versions[at] ?? 0) + 1;
        return {
          split: nodesOf(best.way) > nodesOf(waysOf(host, request.gpus)[0] ?? []),
          release: () => {
            change(there, best.way, request, 1);
            versions[at] = (versions[at] ?? 0) + 1;
          },
        };
      },
    };
  };
}

function emptyHost({ gpusByNode, cpuMilli, memoryMib }: TraceHost): FreeNodes {
  const nodes = gpusByNode.length;
  return {
    gpus: [...gpusByNode],
    cpuMilli: gpusByNode.map(() => cpuMilli / nodes),
    memoryMib: gpusByNode.map(() => memoryMib / nodes),
  };
}

function minus(free: FreeNodes, way: number[], request: TraceRequest): FreeNodes | null {
  const after = {
    gpus: [...free.gpus],
    cpuMilli: [...free.cpuMilli],
    memoryMib: [...free.memoryMib],
  };
  change(after, way, request, -1);
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const fits =
    way.every((gpus, node) => gpus === 0 || (after.gpus[node] ?? 0) >= -1e-6) &&
    sum(after.cpuMilli) >= -1e-6 &&
    sum(after.memoryMib) >= -1e-6;
  return fits ? after : null;
}

function change(free: FreeNodes, way: number[], request: TraceRequest, sign: 1 | -1): void {
  for (let node = 0; node < way.length; node += 1) {
    const gpus = way[node] ?? 0;
    const part = (sign * gpus) / request.gpus;
    free.gpus[node] = (free.gpus[node] ?? 0) + sign * gpus;
    free.cpuMilli[node] = (free.cpuMilli[node] ?? 0) + part * request.cpuMilli;
    free.memoryMib[node] = (free.memoryMib[node] ?? 0) + part * request.memoryMib;
  }
}
