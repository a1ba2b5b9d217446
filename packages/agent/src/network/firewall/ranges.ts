/** An inclusive range of addresses or ports. */
export type Range = { first: number; last: number };

/**
 * Sorts the ranges and merges overlapping and adjacent ones: the kernel refuses overlapping
 * elements.
 */
export function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const last = merged.at(-1);
    if (last && range.first <= last.last + 1) last.last = Math.max(last.last, range.last);
    else merged.push({ ...range });
  }
  return merged;
}
