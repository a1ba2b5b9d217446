import { groupBy } from '@gantry/model/group-by';
import { partitionRanges } from './partition-ranges.ts';
import { type PrefixKeys, planPrefixKeys } from './prefix-keys.ts';
import { mergeRanges, type Range } from './ranges.ts';
import { DIMENSIONS, type Dimension, type RuleMatch } from './rule-match.ts';

/**
 * Plans how to find out whether a packet is in one of many rule matches by lookups, instead of
 * testing each match. Rules differ in the fields they name, so the matches are first grouped by the
 * fields they name. There are few such groups, however many rules there are, and each group is one
 * lookup, or one lookup per dimension in which ranges may overlap.
 */
export type Lookup =
  /** Every packet matches. */
  | { kind: 'all' }
  | { kind: 'ranges'; dimension: Dimension; ranges: readonly Range[] }
  | ({ kind: 'keys'; dimensions: readonly Dimension[] } & PrefixKeys)
  | { kind: 'split'; dimension: Dimension; cases: readonly Case[] }
  /** Tried by itself: what it overlaps with would become too much in a lookup. */
  | { kind: 'match'; match: RuleMatch };

/** The cases of one split share no value. */
export type Case = { ranges: readonly Range[]; within: readonly Lookup[] };

export function planLookups(matches: readonly RuleMatch[]): Lookup[] {
  return [...groupBy(matches, kindOf).values()].flatMap((alike) => {
    const dimensions = DIMENSIONS.filter((dimension) => alike[0]?.ranges.has(dimension));
    return planAlike(alike, dimensions);
  });
}

function planAlike(matches: readonly RuleMatch[], dimensions: readonly Dimension[]): Lookup[] {
  const [dimension] = dimensions;
  if (dimension === undefined) return [{ kind: 'all' }];
  if (dimensions.length === 1) {
    const ranges = mergeRanges(matches.flatMap((match) => rangesOf(match, dimension)));
    return [{ kind: 'ranges', dimension, ranges }];
  }
  const { found, left } = planPrefixKeys(matches, dimensions);
  return [
    ...found.map((keys) => ({ kind: 'keys', dimensions, ...keys }) as const),
    ...(left.length > 0 ? planSplit(left, dimensions) : []),
  ];
}

/**
 * The dimension with the fewest different values comes first, because it makes the fewest cases.
 */
function planSplit(matches: readonly RuleMatch[], dimensions: readonly Dimension[]): Lookup[] {
  const ordered = dimensions
    .map((dimension) => ({ dimension, size: groupBy(matches, textOf(dimension)).size }))
    .sort((a, b) => a.size - b.size);
  for (const { dimension } of ordered) {
    const cases = partitionRanges(matches, (match) => rangesOf(match, dimension));
    if (cases === null) continue;
    const rest = dimensions.filter((other) => other !== dimension);
    return [
      {
        ...{ kind: 'split', dimension },
        cases: cases.map(({ ranges, members }) => ({ ranges, within: planAlike(members, rest) })),
      },
    ];
  }
  return matches.map((match) => ({ kind: 'match', match }));
}

/** Matches of one kind have the same protocols and name the same dimensions. */
export function kindOf({ protocols, ranges }: RuleMatch): string {
  return [...protocols, ...DIMENSIONS.filter((dimension) => ranges.has(dimension))].join(' ');
}

const textOf = (dimension: Dimension) => (match: RuleMatch) =>
  JSON.stringify(rangesOf(match, dimension));

export function rangesOf(match: RuleMatch, dimension: Dimension): readonly Range[] {
  return match.ranges.get(dimension) ?? [];
}
