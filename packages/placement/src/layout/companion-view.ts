import { countBits } from './count-bits.ts';
import type { Layout } from './layout.ts';

/** The number of free companions in each group. Views with equal counts have equal ids. */
export type CompanionView = { id: number; counts: readonly number[] };
export type CompanionViews = { at: (freeCompanions: number) => CompanionView };

/** A cache with this many masks is cleared. */
const MOST_KEPT = 4096;
const viewsByLayout = new WeakMap<Layout, CompanionViews>();

export function companionViews(layout: Layout): CompanionViews {
  const known = viewsByLayout.get(layout);
  if (known) return known;
  const byMask = new Map<number, CompanionView>();
  const ids = new Map<string, number>();
  const views: CompanionViews = {
    at: (freeCompanions) => {
      const kept = byMask.get(freeCompanions);
      if (kept) return kept;
      const counts = layout.companionGroups.map(({ mask }) => countBits(freeCompanions & mask));
      const key = counts.join();
      const id = ids.get(key) ?? ids.size;
      ids.set(key, id);
      if (byMask.size >= MOST_KEPT) byMask.clear();
      const made = { id, counts };
      byMask.set(freeCompanions, made);
      return made;
    },
  };
  viewsByLayout.set(layout, views);
  return views;
}
