import { groupBy } from '@gantry/model/group-by';
import type { Range } from './ranges.ts';
import type { Dimension, RuleMatch } from './rule-match.ts';

/**
 * Writes rule matches as hash keys. A prefix (an address, a CIDR or a port) is one value if the
 * lower bits of the packet are masked. A match has one key for each combination of its prefixes.
 * One lookup finds all keys whose prefixes have the same sizes.
 */
export type PrefixKeys = {
  /** How many values the prefix of each dimension has; powers of two. */
  sizes: readonly number[];
  /** The first value of each dimension's prefix. */
  keys: readonly (readonly number[])[];
};

type Prefix = { first: number; size: number };

/** The limit for the keys of one match: enough for a list of a few ports and a few addresses. */
const MAX_KEYS_OF_BOX = 64;
/** A range of more prefixes is not written as keys. */
const MAX_BLOCKS_OF_RANGE = 2;
/** This many lookups cost about as much as one; the most common sizes are chosen. */
const MAX_SIZES = 8;

export function planPrefixKeys(
  matches: readonly RuleMatch[],
  dimensions: readonly Dimension[],
): { found: PrefixKeys[]; left: RuleMatch[] } {
  const written = matches.map((match) => ({ match, keys: combine(match, dimensions) }));
  const alike = groupBy(written, ({ keys }) => [...new Set((keys ?? []).map(sizesOf))].join(' '));
  const chosen = new Set<string>();
  const left: RuleMatch[] = [];
  const prefixes: Prefix[][] = [];
  for (const [sizes, members] of [...alike].sort(([, a], [, b]) => b.length - a.length)) {
    const together = new Set([...chosen, ...sizes.split(' ')]);
    const isChosen = sizes !== '' && together.size <= MAX_SIZES;
    if (isChosen) for (const size of together) chosen.add(size);
    for (const { match, keys } of members) {
      if (isChosen && keys) prefixes.push(...keys);
      else left.push(match);
    }
  }
  const found = [...groupBy(prefixes, sizesOf).values()].map((keys) => ({
    sizes: keys[0]?.map(({ size }) => size) ?? [],
    keys: keys.map((key) => key.map(({ first }) => first)),
  }));
  return { found, left };
}

const sizesOf = (key: readonly Prefix[]) => key.map(({ size }) => size).join();

/** Returns null if there are too many. */
function combine(match: RuleMatch, dimensions: readonly Dimension[]): Prefix[][] | null {
  let keys: Prefix[][] = [[]];
  for (const dimension of dimensions) {
    const ranges = (match.ranges.get(dimension) ?? []).map(prefixesOf);
    if (ranges.some(({ length }) => length > MAX_BLOCKS_OF_RANGE)) return null;
    const prefixes = ranges.flat();
    if (keys.length * prefixes.length > MAX_KEYS_OF_BOX) return null;
    keys = keys.flatMap((key) => prefixes.map((prefix) => [...key, prefix]));
  }
  return keys;
}

/**
 * Returns the fewest prefixes that cover the range, each as large as its first value and the rest
 * allow.
 */
function prefixesOf({ first, last }: Range): Prefix[] {
  const prefixes: Prefix[] = [];
  for (let at = first; at <= last; at += prefixes.at(-1)?.size ?? 1) {
    let size = 1;
    while (at % (size * 2) === 0 && at + size * 2 - 1 <= last) size *= 2;
    prefixes.push({ first: at, size });
  }
  return prefixes;
}
