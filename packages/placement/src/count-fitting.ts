import type { FreeResources } from './fit.ts';
import type { PlacementRequest } from './host.ts';
import type { HostIndex } from './host-index.ts';
import { lackingStorage } from './host-state.ts';
import { rankingFor } from './pool.ts';

/**
 * Returns an upper bound of the VMs like this that fit on all hosts together, counted up to `most`. It is zero only if
 * no host fits. It compares total amounts, once for each class of hosts; fewer VMs fit if the free GPUs, cores or
 * drives of a host cannot be divided among them.
 */
export function countFitting(index: HostIndex, request: PlacementRequest, most: number): number {
  const pool = index.pool(request.location, request.gpuModel);
  let count = 0;
  for (const { hostClass } of pool ? rankingFor(pool, request).ranked : []) {
    const { members, free, view } = hostClass;
    if (members.length === 0) continue;
    const byGpus = countOf(view.freeCount, request.gpuCount);
    const ofClass = Math.min(byGpus, countByAmounts(free, request));
    for (const { state } of members) {
      if (lackingStorage(state, request)) continue;
      const byDisks = countOf(state.freeStorageGib, request.newDisksGib ?? 0);
      count += Math.max(1, Math.min(ofClass, byDisks));
      if (count >= most) return most;
    }
  }
  return count;
}

function countByAmounts({ amounts }: FreeResources, request: PlacementRequest): number {
  return Math.min(
    countOf(sum(amounts.cores), request.cores),
    countOf(sum(amounts.memoryMib), request.memoryMib),
    countOf(sum(amounts.networkGbps), request.networkGbps),
  );
}

function countOf(free: number, needed: number): number {
  return needed === 0 ? Number.POSITIVE_INFINITY : Math.floor(free / needed);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
