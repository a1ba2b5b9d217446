import { allot, sharesFrom } from './allot.ts';
import { allotCompanions } from './allot-companions.ts';
import type { Amounts } from './amounts.ts';
import {
  COMPANION_FILTERS,
  COMPANION_KINDS,
  type CompanionKind,
  type Filter,
  type NodeShare,
  type PlacementRequest,
} from './host.ts';
import type { CompanionView } from './layout/companion-view.ts';
import { type GpuView, gpuViews } from './layout/gpu-view.ts';
import type { Layout } from './layout/layout.ts';
import { scoreFit } from './score.ts';
import { spreads } from './spread.ts';

/** The free resources of a host that a request depends on, besides its GPUs. */
export type FreeResources = {
  layout: Layout;
  amounts: Amounts;
  companions: CompanionView;
};

/** What to take from each NUMA node. A lower score is better (see score.ts). */
export type Fit = {
  gpusByNode: readonly number[];
  /** The number of companions of each requested kind, by node. */
  companionsByNode: ReadonlyMap<CompanionKind, readonly number[]>;
  shares: readonly NodeShare[];
  score: number;
};
type Misfit = { failed: Filter };

/**
 * Returns the best way to fit the request on this host, or the filter that no way passes. The GPUs must be on as few
 * sockets as possible. Everything else is as near to them as the host allows, and refused only if the whole host has
 * too little.
 */
export function fitRequest(
  free: FreeResources,
  view: GpuView,
  request: PlacementRequest,
): Fit | Misfit {
  if (request.nested && free.layout.lacksNesting) return { failed: 'nested_virtualization' };
  if (view.freeCount < request.gpuCount) return { failed: 'gpu_count' };
  const picks = spreads(view.nodeFree, request.gpuCount).filter((gpusByNode) =>
    gpusByNode.every((gpus, node) => view.pick(node, gpus) !== null),
  );
  if (picks.length === 0)
    return { failed: view.hasGroupsOf(request.gpuCount) ? 'nvlink_pairs' : 'iommu_groups' };
  const most = request.maySplit ? free.layout.nodes.length : socketsNeeded(free.layout, request);
  const narrow = picks.filter((gpusByNode) => socketsUsed(free.layout, gpusByNode) <= most);
  if (narrow.length === 0) return { failed: 'numa_nodes' };
  const failed = lackingFilter(free, narrow[0] ?? [], request);
  if (failed) return { failed };
  let best: Fit | null = null;
  for (const gpusByNode of narrow) {
    const fit = fitSpread(free, view, { gpusByNode, request });
    if (fit && fit.score < (best?.score ?? Number.POSITIVE_INFINITY)) best = fit;
  }
  return best ?? { failed: 'memory' };
}

type Spread = { gpusByNode: readonly number[]; request: PlacementRequest };

function fitSpread(
  free: FreeResources,
  view: GpuView,
  { gpusByNode, request }: Spread,
): Fit | null {
  const allotment = allot(free.amounts, gpusByNode, request);
  if ('failed' in allotment) return null;
  const companionsByNode = new Map<CompanionKind, readonly number[]>();
  let companionsAway = 0;
  for (const wanted of request.companions) {
    const counts = allotCompanions(free, gpusByNode, wanted);
    if (!counts) return null;
    companionsByNode.set(wanted.kind, counts.byNode);
    companionsAway += counts.away / request.companions.length;
  }
  return {
    gpusByNode,
    companionsByNode,
    shares: sharesFrom(free.layout, gpusByNode, allotment, request),
    score: scoreFit(free.amounts, view, { gpusByNode, allotment, companionsAway }),
  };
}

function socketsUsed({ reach }: Layout, gpusByNode: readonly number[]): number {
  const used = new Set<number>();
  gpusByNode.forEach((gpus, node) => {
    if (gpus > 0) used.add(reach.socketOf[node] ?? node);
  });
  return used.size;
}

/** Returns the smallest number of sockets that could hold the VM if the whole host were free. */
function socketsNeeded(layout: Layout, request: PlacementRequest): number {
  const { nodeFree } = gpuViews(layout, request.gpuModel).at(layout.fullMask);
  const sizes = nodeFree.map(() => 0);
  nodeFree.forEach((gpus, node) => {
    const socket = layout.reach.socketOf[node] ?? node;
    sizes[socket] = (sizes[socket] ?? 0) + gpus;
  });
  sizes.sort((a, b) => b - a);
  let missing = request.gpuCount;
  let sockets = 0;
  for (; missing > 0 && sockets < sizes.length; sockets += 1) missing -= sizes[sockets] ?? 0;
  return sockets;
}

/** Returns the first filter for which the whole host has too little, or null. */
function lackingFilter(
  free: FreeResources,
  gpusByNode: readonly number[],
  request: PlacementRequest,
): Filter | null {
  const allotment = allot(free.amounts, gpusByNode, request);
  if ('failed' in allotment) return allotment.failed;
  // A link is not part of a NUMA node: all VMs share the links of the host.
  const gbps = free.amounts.networkGbps.reduce((sum, here) => sum + here, 0);
  if (gbps < request.networkGbps) return 'network';
  for (const kind of COMPANION_KINDS) {
    const wanted = request.companions.find((companion) => companion.kind === kind);
    if (wanted && !allotCompanions(free, gpusByNode, wanted)) return COMPANION_FILTERS[kind];
  }
  return null;
}
