import type { NodeShare, PlacementRequest } from './host.ts';

/** Returns every way to take `count` GPUs from nodes with `free` GPUs each, as GPUs by node. */
export function spreads(free: readonly number[], count: number): number[][] {
  const found: number[][] = [];
  const visit = (node: number, taken: number[], missing: number): void => {
    if (node === free.length) {
      if (missing === 0) found.push(taken);
      return;
    }
    for (let here = Math.min(free[node] ?? 0, missing); here >= 0; here -= 1)
      visit(node + 1, [...taken, here], missing - here);
  };
  visit(0, [], count);
  return found;
}

/**
 * Divides a VM's cores, memory and bandwidth between nodes in proportion to the GPUs taken there.
 * The parts are whole numbers whose sum is the total.
 */
export function sharesOf(
  nodes: readonly number[],
  gpusByNode: readonly number[],
  request: Pick<PlacementRequest, 'cores' | 'memoryMib' | 'networkGbps'>,
): NodeShare[] {
  const shares: NodeShare[] = [];
  for (let i = 0; i < gpusByNode.length; i += 1) {
    const gpus = gpusByNode[i] ?? 0;
    if (gpus === 0) continue;
    shares.push({
      node: nodes[i] ?? 0,
      gpus,
      cores: shareAt(gpusByNode, i, request.cores),
      memoryMib: shareAt(gpusByNode, i, request.memoryMib),
      networkGbps: shareAt(gpusByNode, i, request.networkGbps),
    });
  }
  return shares;
}

export function shareAt(gpusByNode: readonly number[], node: number, total: number): number {
  let before = 0;
  let all = 0;
  for (let i = 0; i < gpusByNode.length; i += 1) {
    const gpus = gpusByNode[i] ?? 0;
    if (i < node) before += gpus;
    all += gpus;
  }
  const gpus = gpusByNode[node] ?? 0;
  if (gpus === all) return total;
  return Math.round((total * (before + gpus)) / all) - Math.round((total * before) / all);
}
