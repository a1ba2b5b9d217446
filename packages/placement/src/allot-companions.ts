import { isAway } from './allot.ts';
import type { CompanionRequest } from './host.ts';
import type { CompanionView } from './layout/companion-view.ts';
import type { Layout } from './layout/layout.ts';
import { shareAt } from './spread.ts';

type FreeCompanions = { layout: Layout; companions: CompanionView };

/** How many companions of a kind come from each node, and the part of them that is away from its GPUs. */
type CompanionCounts = { byNode: number[]; away: number };

/**
 * Takes companions from the nodes of the GPUs in proportion to these. What a node lacks comes from the nearest nodes
 * that have more than they need themselves. Returns null if the whole host has too few.
 */
export function allotCompanions(
  free: FreeCompanions,
  gpusByNode: readonly number[],
  wanted: CompanionRequest,
): CompanionCounts | null {
  const { layout } = free;
  const left = companionsByNode(free, wanted);
  const byNode = left.map(() => 0);
  const lacking: { home: number; count: number }[] = [];
  let away = 0;
  const take = (node: number, count: number) => {
    const taken = Math.min(count, left[node] ?? 0);
    left[node] = (left[node] ?? 0) - taken;
    byNode[node] = (byNode[node] ?? 0) + taken;
    return taken;
  };
  gpusByNode.forEach((gpus, home) => {
    if (gpus === 0) return;
    const count = shareAt(gpusByNode, home, wanted.count);
    lacking.push({ home, count: count - take(home, count) });
  });
  for (const { home, count } of lacking) {
    let rest = count;
    for (const node of layout.reach.nearest[home] ?? []) {
      const taken = take(node, rest);
      rest -= taken;
      if (isAway(layout, home, node)) away += taken / wanted.count;
    }
    if (rest > 0) return null;
  }
  return { byNode, away };
}

function companionsByNode(
  { layout, companions }: FreeCompanions,
  wanted: CompanionRequest,
): number[] {
  const counts = layout.nodes.map(() => 0);
  layout.companionGroups.forEach(({ node, kind, sizeGb }, group) => {
    if (kind !== wanted.kind || sizeGb < wanted.sizeGb) return;
    counts[node] = (counts[node] ?? 0) + (companions.counts[group] ?? 0);
  });
  return counts;
}
