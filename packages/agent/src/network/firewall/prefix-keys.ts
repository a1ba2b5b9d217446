import { groupBy } from '@gantry/model/group-by';
import type { Range } from './ranges.ts';
import type { Box, Dimension } from './rule-match.ts';

/**
 * Boxes as keys of a hash. A block, such as an address, a CIDR or a port, is one value once a packet's
 * lower bits are masked away; so a box of blocks is as many keys as they combine to, and all keys with
 * the same sizes of blocks are found by one lookup.
 */
export type BlockKeys = {
  /** How many values each dimension's blocks have, powers of two. */
  sizes: readonly number[];
  /** The first value of each dimension's block. */
  keys: readonly (readonly number[])[];
};

type Block = { first: number; size: number };

/** A list of a few ports and a few addresses is so many keys; beyond that it is not written out. */
const MAX_KEYS_OF_BOX = 64;
/** A range of more is not worth writing as blocks. */
const MAX_BLOCKS_OF_RANGE = 2;
/** So many lookups are as good as one; the commonest sizes are chosen. */
const MAX_SIZES = 8;

export function planBlockKeys(
  boxes: readonly Box[],
  dimensions: readonly Dimension[],
): { found: BlockKeys[]; left: Box[] } {
  const written = boxes.map((box) => ({ box, keys: combine(box, dimensions) }));
  const alike = groupBy(written, ({ keys }) => [...new Set((keys ?? []).map(sizesOf))].join(' '));
  const chosen = new Set<string>();
  const left: Box[] = [];
  const blocks: Block[][] = [];
  for (const [sizes, members] of [...alike].sort(([, a], [, b]) => b.length - a.length)) {
    const together = new Set([...chosen, ...sizes.split(' ')]);
    const isChosen = sizes !== '' && together.size <= MAX_SIZES;
    if (isChosen) for (const size of together) chosen.add(size);
    for (const { box, keys } of members) {
      if (isChosen && keys) blocks.push(...keys);
      else left.push(box);
    }
  }
  const found = [...groupBy(blocks, sizesOf).values()].map((keys) => ({
    sizes: keys[0]?.map(({ size }) => size) ?? [],
    keys: keys.map((key) => key.map(({ first }) => first)),
  }));
  return { found, left };
}

const sizesOf = (key: readonly Block[]) => key.map(({ size }) => size).join();

/** Null where they are too many. */
function combine(box: Box, dimensions: readonly Dimension[]): Block[][] | null {
  let keys: Block[][] = [[]];
  for (const dimension of dimensions) {
    const ranges = (box.ranges.get(dimension) ?? []).map(blocksOf);
    if (ranges.some(({ length }) => length > MAX_BLOCKS_OF_RANGE)) return null;
    const blocks = ranges.flat();
    if (keys.length * blocks.length > MAX_KEYS_OF_BOX) return null;
    keys = keys.flatMap((key) => blocks.map((block) => [...key, block]));
  }
  return keys;
}

/** The fewest, from the first on: each as large as its first value and what is left allow. */
export function blocksOf({ first, last }: Range): Block[] {
  const blocks: Block[] = [];
  for (let at = first; at <= last; at += blocks.at(-1)?.size ?? 1) {
    let size = 1;
    while (at % (size * 2) === 0 && at + size * 2 - 1 <= last) size *= 2;
    blocks.push({ first: at, size });
  }
  return blocks;
}
