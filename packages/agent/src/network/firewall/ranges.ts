/** An inclusive stretch of addresses or ports. */
export type Range = { first: number; last: number };

/** In order, without overlap and without seams: the kernel refuses a set whose parts overlap. */
export function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const last = merged.at(-1);
    if (last && range.first <= last.last + 1) last.last = Math.max(last.last, range.last);
    else merged.push({ ...range });
  }
  return merged;
}
