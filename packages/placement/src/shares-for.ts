import type { HostGpu, NodeShare, PlacementRequest } from './host.ts';
import { sharesOf } from './spread.ts';

/**
 * Returns the share of each NUMA node that a VM with these GPUs has if its placement does not store its shares, as
 * before placements did: everything is on the nodes of the GPUs, and an unknown node counts as the first.
 */
export function sharesFor(
  host: { gpus: readonly Pick<HostGpu, 'id' | 'numaNode'>[] },
  gpuIds: readonly string[],
  request: Pick<PlacementRequest, 'cores' | 'memoryMib' | 'networkGbps'>,
): NodeShare[] {
  const used = host.gpus
    .filter(({ id }) => gpuIds.includes(id))
    .map(({ numaNode }) => Math.max(0, numaNode));
  const nodes = [...new Set(used)].sort((a, b) => a - b);
  const gpusByNode = nodes.map((node) => used.filter((one) => one === node).length);
  return sharesOf(nodes, gpusByNode, request);
}
