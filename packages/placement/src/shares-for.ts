import type { HostGpu, NodeShare, PlacementRequest } from './host.ts';
import { sharesOf } from './spread.ts';

/**
 * Returns the share of each NUMA node that a VM with these GPUs has. The result equals the shares at
 * placement. The database stores claims per device only; cores, memory and bandwidth are derived
 * here.
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
