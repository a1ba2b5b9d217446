import type { Amounts } from './amounts.ts';
import {
  COMPANION_FILTERS,
  COMPANION_KINDS,
  type CompanionRequest,
  type Filter,
  type NodeShare,
  type PlacementRequest,
} from './host.ts';
import type { CompanionView } from './layout/companion-view.ts';
import { type GpuView, gpuViews } from './layout/gpu-view.ts';
import type { Layout } from './layout/layout.ts';
import { scoreFit } from './score.ts';
import { shareAt, sharesOf, spreads } from './spread.ts';

/** The free resources of a host that a request depends on, besides its GPUs. */
export type FreeResources = {
  layout: Layout;
  amounts: Amounts;
  companions: CompanionView;
};

/** The GPUs to take from each NUMA node. A lower score is better (see score.ts). */
export type Fit = {
  gpusByNode: readonly number[];
  shares: readonly NodeShare[];
  score: number;
};
type Misfit = { failed: Filter };

const NODE_FILTERS: readonly Filter[] = [
  'cores',
  'memory',
  'network',
  ...Object.values(COMPANION_FILTERS),
];

/** Returns the best way to fit the request on this host, or the filter that no way passes. */
export function fitRequest(
  free: FreeResources,
  view: GpuView,
  request: PlacementRequest,
): Fit | Misfit {
  if (view.freeCount < request.gpuCount) return { failed: 'gpu_count' };
  const fits = spreads(view.nodeFree, request.gpuCount)
    .filter((gpusByNode) => gpusByNode.every((gpus, node) => view.pick(node, gpus) !== null))
    .map((gpusByNode) => ({ gpusByNode, score: scoreFit(free.amounts, view, gpusByNode, request) }))
    .sort((a, b) => a.score - b.score);
  if (fits.length === 0) return { failed: 'iommu_groups' };
  const most = request.maySplit ? view.nodeFree.length : nodesNeeded(free.layout, request);
  const narrow = fits.filter(({ gpusByNode }) => nodesUsed(gpusByNode) <= most);
  if (narrow.length === 0) return { failed: 'numa_nodes' };
  let passed = 0;
  for (const fit of narrow) {
    const passes = passedFilters(free, fit.gpusByNode, request);
    if (passes === NODE_FILTERS.length)
      return { ...fit, shares: sharesOf(free.layout.nodes, fit.gpusByNode, request) };
    passed = Math.max(passed, passes);
  }
  return { failed: NODE_FILTERS[passed] ?? 'cores' };
}

function nodesUsed(gpusByNode: readonly number[]): number {
  return gpusByNode.filter((gpus) => gpus > 0).length;
}

/** Returns the smallest number of nodes that could hold the VM if the whole host were free. */
function nodesNeeded(layout: Layout, { gpuModel, gpuCount }: PlacementRequest): number {
  const sizes = gpuViews(layout, gpuModel)
    .at(layout.fullMask)
    .nodeFree.toSorted((a, b) => b - a);
  let missing = gpuCount;
  let nodes = 0;
  for (; missing > 0 && nodes < sizes.length; nodes += 1) missing -= sizes[nodes] ?? 0;
  return nodes;
}

/** Returns how many of `NODE_FILTERS` this spread passes before the first that it fails. */
function passedFilters(
  free: FreeResources,
  gpusByNode: readonly number[],
  request: PlacementRequest,
): number {
  const everyNode = (has: readonly number[], total: number) =>
    gpusByNode.every(
      (gpus, node) => gpus === 0 || (has[node] ?? 0) >= shareAt(gpusByNode, node, total),
    );
  if (!everyNode(free.amounts.cores, request.cores)) return 0;
  if (!everyNode(free.amounts.memoryMib, request.memoryMib)) return 1;
  if (!everyNode(free.amounts.networkGbps, request.networkGbps)) return 2;
  let passed = 3;
  for (const kind of COMPANION_KINDS) {
    const wanted = request.companions.find((companion) => companion.kind === kind);
    if (wanted && !everyNode(companionsByNode(free, wanted), wanted.count)) return passed;
    passed += 1;
  }
  return passed;
}

function companionsByNode(
  { layout, companions }: FreeResources,
  wanted: CompanionRequest,
): number[] {
  const counts = layout.nodes.map(() => 0);
  layout.companionGroups.forEach(({ node, kind, sizeGb }, group) => {
    if (kind !== wanted.kind || sizeGb < wanted.sizeGb) return;
    counts[node] = (counts[node] ?? 0) + (companions.counts[group] ?? 0);
  });
  return counts;
}
