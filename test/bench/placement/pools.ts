import type { TraceHost, TraceRequest } from './trace.ts';

/** The hosts of one GPU model, and the requests of the trace that one of them could hold. */
export type TracePool = { model: string; hosts: TraceHost[]; requests: TraceRequest[] };

/**
 * Divides a fleet by GPU model. The requests of the public traces accept any model, but a VM type of
 * Gantry names one, so each model is offered the same load: by the requests that an empty host of it
 * could hold without a split.
 */
export function poolsOf(hosts: TraceHost[], requests: TraceRequest[]): TracePool[] {
  const models = [...new Set(hosts.map(({ model }) => model))];
  return models.flatMap((model) => {
    const own = hosts.filter((host) => host.model === model);
    const held = requests.filter((request) => own.some((host) => holds(host, request)));
    return held.length === 0 ? [] : [{ model, hosts: own, requests: held }];
  });
}

/**
 * The same hosts and requests as a catalogue of VM types would have them: cores and memory in
 * proportion to the GPUs, so that GPUs alone decide what fits.
 */
export function inProportion({ model, hosts, requests }: TracePool): TracePool {
  const bySize = new Map<number, TraceRequest>();
  for (const { gpus, count } of requests) {
    const same = bySize.get(gpus) ?? { gpus, cpuMilli: gpus, memoryMib: gpus, count: 0 };
    same.count += count;
    bySize.set(gpus, same);
  }
  return {
    model,
    hosts: hosts.map((host) => {
      const gpus = gpusOf(host);
      return { ...host, cpuMilli: gpus, memoryMib: gpus };
    }),
    requests: [...bySize.values()],
  };
}

export function gpusOf({ gpusByNode }: TraceHost): number {
  return gpusByNode.reduce((sum, gpus) => sum + gpus, 0);
}

const knownWays = new WeakMap<TraceHost, Map<number, number[][]>>();

/** Returns the ways to take the GPUs of a request from a host: from as few NUMA nodes as possible. */
export function waysOf(host: TraceHost, gpus: number): number[][] {
  const bySize = knownWays.get(host) ?? new Map<number, number[][]>();
  knownWays.set(host, bySize);
  const known = bySize.get(gpus);
  if (known) return known;
  const ways = spreads(host.gpusByNode, gpus);
  const fewest = Math.min(...ways.map(nodesOf));
  const narrow = ways.filter((way) => nodesOf(way) === fewest);
  bySize.set(gpus, narrow);
  return narrow;
}

/** Returns every way to take the GPUs from the NUMA nodes. */
export function spreads([here = 0, ...others]: number[], gpus: number): number[][] {
  if (others.length === 0) return gpus <= here ? [[gpus]] : [];
  return Array.from({ length: Math.min(here, gpus) + 1 }, (_, taken) => taken).flatMap((taken) =>
    spreads(others, gpus - taken).map((way) => [taken, ...way]),
  );
}

export function nodesOf(way: number[]): number {
  return way.filter((gpus) => gpus > 0).length;
}

function holds(host: TraceHost, request: TraceRequest): boolean {
  const nodes = host.gpusByNode.length;
  return waysOf(host, request.gpus).some((way) =>
    way.every((gpus) => {
      const part = gpus / request.gpus;
      return (
        part * request.cpuMilli <= host.cpuMilli / nodes &&
        part * request.memoryMib <= host.memoryMib / nodes
      );
    }),
  );
}

/** Requests per mean lifetime of a VM at which the scarcest resource is asked for `load` times. */
export function arrivalsFor({ hosts, requests }: TracePool, load: number): number {
  const count = requests.reduce((sum, request) => sum + request.count, 0);
  const asked = (amount: (request: TraceRequest) => number) =>
    requests.reduce((sum, request) => sum + request.count * amount(request), 0) / count;
  const has = (amount: (host: TraceHost) => number) =>
    hosts.reduce((sum, host) => sum + amount(host), 0);
  return (
    load *
    Math.min(
      has(gpusOf) / asked(({ gpus }) => gpus),
      has(({ cpuMilli }) => cpuMilli) / asked(({ cpuMilli }) => cpuMilli),
      has(({ memoryMib }) => memoryMib) / asked(({ memoryMib }) => memoryMib),
    )
  );
}
