import type { Unit } from './layout.ts';

/** A set of GPUs of one NUMA node as a mask, and the number of switches that they are behind. */
export type NodePick = { mask: number; switches: number };

type Rated = NodePick & { fragmentation: number };

/**
 * Returns the best set of whole units with exactly `count` GPUs: behind the fewest switches, then with the
 * remaining GPUs concentrated on few switches. The function tries every set, because a node has few GPUs
 * and the caller caches the result.
 */
export function pickInNode(units: readonly Unit[], count: number): NodePick | null {
  if (count === 0) return { mask: 0, switches: 0 };
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
  for (const unit of units) {
    for (const name of unit.switchNames) {
      if (unit.mask & mask) used.add(name);
      else left.set(name, (left.get(name) ?? 0) + 1);
    }
  }
  const squares = [...left.values()].reduce((sum, free) => sum + free * free, 0);
  return { mask, switches: used.size, fragmentation: -squares };
}

function isBetter(a: Rated, b: Rated): boolean {
  return (a.switches - b.switches || a.fragmentation - b.fragmentation) < 0;
}
