import type { Unit } from './layout.ts';

/** A set of GPUs of one NUMA node as a mask, and its costs. */
export type NodePick = {
  mask: number;
  switches: number;
  /** NVLink bridges from a GPU of the set to a free GPU outside the set. */
  brokenBridges: number;
};

type Rated = NodePick & { fragmentation: number };

/**
 * Returns the best set of whole IOMMU groups with exactly `count` GPUs: behind the fewest switches,
 * then with the fewest broken bridges, then with the remaining GPUs concentrated on few switches.
 * The function tries every set, because a node has few GPUs and the caller caches the result.
 */
export function pickInNode(units: readonly Unit[], count: number): NodePick | null {
  if (count === 0) return { mask: 0, switches: 0, brokenBridges: 0 };
  let best: Rated | null = null;
  const visit = (next: number, mask: number, missing: number): void => {
    if (missing === 0) {
      const rated = rate(units, mask);
      if (!best || isBetter(rated, best)) best = rated;
      return;
    }
    for (let i = next; i < units.length; i += 1) {
      const unit = units[i];
      if (unit && unit.size <= missing) visit(i + 1, mask | unit.mask, missing - unit.size);
    }
  };
  visit(0, 0, count);
  return best;
}

function rate(units: readonly Unit[], mask: number): Rated {
  const used = new Set<string>();
  const left = new Map<string, number>();
  let brokenBridges = 0;
  for (const unit of units) {
    if (unit.mask & mask) {
      used.add(unit.switchName);
      const peerIsFree = units.some((peer) => peer.mask & unit.peers);
      if (peerIsFree && !(unit.peers & mask)) brokenBridges += 1;
    } else {
      left.set(unit.switchName, (left.get(unit.switchName) ?? 0) + unit.size);
    }
  }
  const squares = [...left.values()].reduce((sum, free) => sum + free * free, 0);
  return { mask, switches: used.size, brokenBridges, fragmentation: -squares };
}

function isBetter(a: Rated, b: Rated): boolean {
  const difference =
    a.switches - b.switches ||
    a.brokenBridges - b.brokenBridges ||
    a.fragmentation - b.fragmentation;
  return difference < 0;
}
