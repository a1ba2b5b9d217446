import type { HostGpu, NodeShare, PlacementRequest } from './host.ts';
import { sharesOf } from './spread.ts';

/**
 * What a VM that has these GPUs has of each NUMA node: the same as when it was placed. Claims are
 * kept by device; this is how the rest of a placement is had back from them.
 */
export function sharesFor(
  host: { gpus: readonly Pick<HostGpu, 'id' | 'numaNode'>[] },
  gpuIds: readonly string[],
  request: Pick<PlacementRequest, 'cores' | 'memoryMib' | 'networkGbps'>,
): NodeShare[] {
  const used = host.gpus.filter(({ id }) => gpuIds.includes(id)).map(({ numaNode }) => numaNode);
  const nodes = [...new Set(used)].sort((a, b) => a - b);
  const gpusByNode = nodes.map((node) => used.filter((one) => one === node).length);
  return sharesOf(nodes, gpusByNode, request);
}
