import { groupBy } from '@gantry/model/group-by';
import { splitBy } from './partition-ranges.ts';
import { type BlockKeys, planBlockKeys } from './prefix-keys.ts';
import { mergeRanges, type Range } from './ranges.ts';
import { type Box, DIMENSIONS, type Dimension } from './rule-match.ts';

/**
 * How to find out whether a packet is in one of many boxes, by looking it up instead of trying each.
 * What matters of a packet differs from rule to rule, so boxes are first put together by what they
 * name; there are few kinds of them however many rules there are, and each kind is one lookup, or one
 * for every dimension in which ranges may overlap.
 */
export type Lookup =
  /** Every packet matches. */
  | { kind: 'all' }
  | { kind: 'ranges'; dimension: Dimension; ranges: readonly Range[] }
  | ({ kind: 'keys'; dimensions: readonly Dimension[] } & BlockKeys)
  | { kind: 'split'; dimension: Dimension; cases: readonly Case[] }
  /** Tried by itself: what it overlaps with would become too much in a lookup. */
  | { kind: 'box'; box: Box };

/** Cases of one split share no value. */
export type Case = { ranges: readonly Range[]; within: readonly Lookup[] };

export function planLookups(boxes: readonly Box[]): Lookup[] {
  return [...groupBy(boxes, kindOf).values()].flatMap((alike) => {
    const dimensions = DIMENSIONS.filter((dimension) => alike[0]?.ranges.has(dimension));
    return planAlike(alike, dimensions);
  });
}

function planAlike(boxes: readonly Box[], dimensions: readonly Dimension[]): Lookup[] {
  const [dimension] = dimensions;
  if (dimension === undefined) return [{ kind: 'all' }];
  if (dimensions.length === 1) {
    const ranges = mergeRanges(boxes.flatMap((box) => rangesOf(box, dimension)));
    return [{ kind: 'ranges', dimension, ranges }];
  }
  const { found, left } = planBlockKeys(boxes, dimensions);
  return [
    ...found.map((keys) => ({ kind: 'keys', dimensions, ...keys }) as const),
    ...(left.length > 0 ? planSplit(left, dimensions) : []),
  ];
}

/** The dimension with the fewest different values goes first: it makes the fewest cases. */
function planSplit(boxes: readonly Box[], dimensions: readonly Dimension[]): Lookup[] {
  const ordered = dimensions
    .map((dimension) => ({ dimension, size: groupBy(boxes, textOf(dimension)).size }))
    .sort((a, b) => a.size - b.size);
  for (const { dimension } of ordered) {
    const cases = splitBy(boxes, (box) => rangesOf(box, dimension));
    if (cases === null) continue;
    const rest = dimensions.filter((other) => other !== dimension);
    return [
      {
        ...{ kind: 'split', dimension },
        cases: cases.map(({ ranges, members }) => ({ ranges, within: planAlike(members, rest) })),
      },
    ];
  }
  return boxes.map((box) => ({ kind: 'box', box }));
}

/** Boxes of one kind speak of the same protocols and name the same dimensions. */
export function kindOf({ protocols, ranges }: Box): string {
  return [...protocols, ...DIMENSIONS.filter((dimension) => ranges.has(dimension))].join(' ');
}

const textOf = (dimension: Dimension) => (box: Box) => JSON.stringify(rangesOf(box, dimension));

export function rangesOf(box: Box, dimension: Dimension): readonly Range[] {
  return box.ranges.get(dimension) ?? [];
}
