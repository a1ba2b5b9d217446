import { countBits } from './count-bits.ts';
import type { Layout } from './layout.ts';

/** Free drives by group; views with equal counts have equal ids. */
export type DriveView = { id: number; counts: readonly number[] };
export type DriveViews = { at: (freeDrives: number) => DriveView };

/** Beyond this many masks the views start anew. */
const MOST_KEPT = 4096;
const viewsByLayout = new WeakMap<Layout, DriveViews>();

export function driveViews(layout: Layout): DriveViews {
  const known = viewsByLayout.get(layout);
  if (known) return known;
  const byMask = new Map<number, DriveView>();
  const ids = new Map<string, number>();
  const views: DriveViews = {
    at: (freeDrives) => {
      const kept = byMask.get(freeDrives);
      if (kept) return kept;
      const counts = layout.driveGroups.map(({ mask }) => countBits(freeDrives & mask));
      const key = counts.join();
      const id = ids.get(key) ?? ids.size;
      ids.set(key, id);
      if (byMask.size >= MOST_KEPT) byMask.clear();
      const made = { id, counts };
      byMask.set(freeDrives, made);
      return made;
    },
  };
  viewsByLayout.set(layout, views);
  return views;
}
