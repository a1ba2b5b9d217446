import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lookup, planLookups } from './plan-lookups.ts';
import { mergeRanges, type Range } from './ranges.ts';
import { DIMENSIONS, type Dimension, type RuleMatch } from './rule-match.ts';

type Packet = Record<Dimension, number>;

const isIn = (ranges: readonly Range[] | undefined, value: number) =>
  ranges === undefined || ranges.some(({ first, last }) => first <= value && value <= last);
const isMatched = (match: RuleMatch, packet: Packet) =>
  DIMENSIONS.every((dimension) => isIn(match.ranges.get(dimension), packet[dimension]));

/** Matches as the kernel does. */
function isFound(lookups: readonly Lookup[], packet: Packet): boolean {
  return lookups.some((lookup) => isFoundBy(lookup, packet));
}

function isFoundBy(lookup: Lookup, packet: Packet): boolean {
  switch (lookup.kind) {
    case 'all':
      return true;
    case 'ranges':
      return isIn(lookup.ranges, packet[lookup.dimension]);
    case 'keys':
      return lookup.keys.some((key) =>
        key.every((first, at) => {
          const size = lookup.sizes[at] ?? 1;
          const value = packet[lookup.dimensions[at] ?? 'source'];
          return value - (value % size) === first;
        }),
      );
    case 'match':
      return isMatched(lookup.match, packet);
    case 'split': {
      const fitting = lookup.cases.filter(({ ranges }) => isIn(ranges, packet[lookup.dimension]));
      if (fitting.length > 1) throw new Error('cases share a value');
      return fitting.some(({ within }) => isFound(within, packet));
    }
  }
}

/** So few values that ranges overlap in every way. */
const LARGEST = 9;
const range = fc
  .tuple(fc.nat(LARGEST), fc.nat(3))
  .map(([first, more]) => ({ first, last: Math.min(first + more, LARGEST) }));
const ranges = fc.array(range, { minLength: 1, maxLength: 3 }).map(mergeRanges);
const match: fc.Arbitrary<RuleMatch> = fc
  .tuple(...DIMENSIONS.map((dimension) => fc.tuple(fc.constant(dimension), fc.option(ranges))))
  .map((entries) => ({
    protocols: ['tcp'],
    ranges: new Map(
      entries.flatMap(([dimension, list]) => (list === null ? [] : [[dimension, list] as const])),
    ),
  }));
const value = fc.nat(LARGEST + 1);
const packet: fc.Arbitrary<Packet> = fc.record({
  ...{ source: value, sourcePort: value, destination: value, destinationPort: value },
});

const matchOf = (entries: Partial<Record<Dimension, Range[]>>): RuleMatch => ({
  protocols: ['tcp'],
  ranges: new Map(Object.entries(entries) as [Dimension, Range[]][]),
});
const one = (first: number) => [{ first, last: first }];
const prefix = (at: number) => [{ first: at * 256, last: at * 256 + 255 }];

/** The maximum number of lookups for one packet. */
function longest(lookups: readonly Lookup[]): number {
  return lookups.reduce(
    (sum, lookup) =>
      sum +
      1 +
      (lookup.kind === 'split'
        ? Math.max(...lookup.cases.map(({ within }) => longest(within)))
        : 0),
    0,
  );
}

function countElements(lookups: readonly Lookup[]): number {
  return lookups.reduce((sum, lookup) => {
    if (lookup.kind === 'ranges') return sum + lookup.ranges.length;
    if (lookup.kind === 'keys') return sum + lookup.keys.length;
    if (lookup.kind !== 'split') return sum + 1;
    const inside = lookup.cases.map(
      ({ ranges: each, within }) => each.length + countElements(within),
    );
    return sum + inside.reduce((a, b) => a + b, 0);
  }, 0);
}

describe('lookups', () => {
  it('find a packet exactly if one of the matches contains it', () => {
    const boxesAndPackets = fc.tuple(
      fc.array(match, { maxLength: 12 }),
      fc.array(packet, { minLength: 20, maxLength: 20 }),
    );
    const property = fc.property(boxesAndPackets, ([matches, packets]) => {
      const lookups = planLookups(matches);
      return packets.every(
        (each) => isFound(lookups, each) === matches.some((one) => isMatched(one, each)),
      );
    });
    fc.assert(property, { numRuns: 200, seed: 1 });
  });

  const RULES = 10_000;
  const many = (make: (at: number) => RuleMatch) =>
    Array.from({ length: RULES }, (_, at) => make(at));
  it('find every kind of network if prefixes have many sizes', () => {
    const sizes = Array.from({ length: 25 }, (_, at) => 2 ** at);
    const matches = sizes.flatMap((size) =>
      Array.from({ length: 40 }, (_, at) =>
        matchOf({
          source: [{ first: at * 2 ** 25 + size, last: at * 2 ** 25 + 2 * size - 1 }],
          destinationPort: one(at % 5),
        }),
      ),
    );
    const lookups = planLookups(matches);
    expect(longest(lookups)).toBe(8 + 2);
    expect(countElements(lookups)).toBeLessThan(2 * matches.length);
  });

  it.each<[string, (at: number) => RuleMatch, number]>([
    ['ports', (at) => matchOf({ destinationPort: one(at) }), 1],
    ['sources', (at) => matchOf({ source: prefix(at) }), 1],
    ['sources of one port', (at) => matchOf({ source: prefix(at), destinationPort: one(22) }), 1],
    [
      'ports of one machine each',
      (at) => matchOf({ destination: one(at), destinationPort: one(at % 9) }),
      1,
    ],
    [
      'blocks with a port each',
      (at) => matchOf({ source: prefix(at), destinationPort: one(at) }),
      1,
    ],
    [
      'blocks, machines and ranges of ports',
      (at) =>
        matchOf({
          ...{ source: prefix(at % 50), destination: one(at) },
          destinationPort: [{ first: (at % 7) * 1000, last: (at % 7) * 1000 + 99 }],
        }),
      2,
    ],
    [
      'what names one thing and what names another',
      (at) => (at % 2 ? matchOf({ source: prefix(at) }) : matchOf({ destinationPort: one(at) })),
      2,
    ],
  ])('of ten thousand %s are few and not much larger than the rules', (_, make, expected) => {
    const matches = many(make);
    const lookups = planLookups(matches);
    expect(longest(lookups)).toBe(expected);
    expect(countElements(lookups)).toBeLessThan(3 * RULES);
  });

  it('that would become too large are not made, and everything is still found', () => {
    const wide = (at: number) => [{ first: at, last: at + 3_000 }];
    const matches = Array.from({ length: 3_000 }, (_, at) =>
      matchOf({
        ...{ source: wide(at), destination: wide(2 * at) },
        destinationPort: wide(3 * at),
      }),
    );
    const lookups = planLookups(matches);
    expect(countElements(lookups)).toBeLessThan(20 * matches.length);
    const at = { source: 2_999, destination: 4_000, destinationPort: 6_000, sourcePort: 1 };
    expect(isFound(lookups, at)).toBe(matches.some((each) => isMatched(each, at)));
  });
});
