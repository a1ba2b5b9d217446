import { mergeRanges, type Range } from './ranges.ts';

/** Ranges in which every value has the same members. */
export type Partition<T> = { ranges: Range[]; members: T[] };

/**
 * How often an item may appear in the partitions, on average, before partitioning is not worth it.
 */
const MAX_COPIES = 8;
/** This many copies are always acceptable. */
const FREE_COPIES = 2_048;

/**
 * Cuts a dimension wherever a range of an item starts or ends, and merges the pieces with the same
 * items. Returns null if the items overlap so much that the partitions would list them far more
 * often than there are items.
 */
export function partitionRanges<T>(
  items: readonly T[],
  rangesOf: (item: T) => readonly Range[],
): Partition<T>[] | null {
  const edges = new Map<number, { begin: [number, T][]; end: number[] }>();
  const edgeAt = (value: number) => {
    const edge = edges.get(value) ?? { begin: [], end: [] };
    edges.set(value, edge);
    return edge;
  };
  items.forEach((item, index) => {
    for (const { first, last } of rangesOf(item)) {
      edgeAt(first).begin.push([index, item]);
      edgeAt(last + 1).end.push(index);
    }
  });
  const ordered = [...edges].sort(([a], [b]) => a - b);
  const partitions = new Map<string, Partition<T>>();
  const present = new Map<number, T>();
  let copies = 0;
  for (const [at, [first, { begin, end }]] of ordered.entries()) {
    for (const index of end) present.delete(index);
    for (const [index, item] of begin) present.set(index, item);
    const next = ordered[at + 1];
    if (present.size === 0 || next === undefined) continue;
    const range = { first, last: next[0] - 1 };
    const members = [...present].sort(([a], [b]) => a - b);
    const key = members.map(([index]) => index).join();
    const known = partitions.get(key);
    if (known) {
      known.ranges.push(range);
      continue;
    }
    partitions.set(key, { ranges: [range], members: members.map(([, item]) => item) });
    copies += members.length;
    if (copies > items.length * MAX_COPIES + FREE_COPIES) return null;
  }
  return [...partitions.values()].map((partition) => ({
    ...partition,
    ranges: mergeRanges(partition.ranges),
  }));
}
