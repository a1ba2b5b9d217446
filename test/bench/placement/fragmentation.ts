import { waysOf } from './pools.ts';
import type { FreeNodes } from './scanning.ts';
import type { TraceHost, TraceRequest } from './trace.ts';

/**
 * Returns the fragmentation of a host: how many of its free GPUs a request drawn from the trace
 * cannot use, on average. Gradient descent puts a VM where this grows least, or falls most
 * (Weng et al., Beware of Fragmentation, USENIX ATC 2023).
 */
export function fragmentationFor(
  requests: TraceRequest[],
): (host: TraceHost, free: FreeNodes) => number {
  const all = requests.reduce((sum, { count }) => sum + count, 0);
  return (host, free) => {
    const gpus = free.gpus.reduce((sum, here) => sum + here, 0);
    if (gpus === 0) return 0;
    let useless = 0;
    for (const request of requests) if (!fits(host, free, request)) useless += request.count;
    return (gpus * useless) / all;
  };
}

function fits(host: TraceHost, free: FreeNodes, request: TraceRequest): boolean {
  const { gpus, cpuMilli, memoryMib } = request;
  if (!host.gpusByNode.some((size) => size >= gpus))
    return waysOf(host, gpus).some((way) =>
      way.every((taken, node) => taken === 0 || has(free, node, request, taken / gpus)),
    );
  for (let node = 0; node < free.gpus.length; node += 1)
    if (
      (free.gpus[node] ?? 0) >= gpus &&
      (free.cpuMilli[node] ?? 0) >= cpuMilli &&
      (free.memoryMib[node] ?? 0) >= memoryMib
    )
      return true;
  return false;
}

function has(free: FreeNodes, node: number, request: TraceRequest, part: number): boolean {
  return (
    (free.gpus[node] ?? 0) >= part * request.gpus &&
    (free.cpuMilli[node] ?? 0) >= part * request.cpuMilli &&
    (free.memoryMib[node] ?? 0) >= part * request.memoryMib
  );
}
