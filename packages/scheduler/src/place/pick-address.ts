import { parseCidr } from '@gantry/model/cidr';

/** Addresses as numbers, including both ends. */
export type Range = { first: number; last: number };

const RESERVED_FIRST = 5;
const RESERVED_LAST = 1;

/** The addresses for VMs: all except the first five and the last. Null if none is left. */
export function usableRange(cidr: string): Range | null {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`BUG: a subnet has the invalid CIDR "${cidr}"`);
  const range = { first: block.first + RESERVED_FIRST, last: block.last - RESERVED_LAST };
  return range.first <= range.last ? range : null;
}

/** Returns the first free address after `after`, with wrap-around. Null if all are taken. */
export function pickAddress(
  { first, last }: Range,
  { taken, after }: { taken: ReadonlySet<number>; after: number },
): number | null {
  const start = after >= first && after < last ? after + 1 : first;
  for (let address = start; address <= last; address += 1) if (!taken.has(address)) return address;
  for (let address = first; address < start; address += 1) if (!taken.has(address)) return address;
  return null;
}
