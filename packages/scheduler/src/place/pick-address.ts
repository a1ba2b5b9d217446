import { parseCidr } from '@gantry/model/cidr';

/** Addresses as numbers, both ends included. */
export type Range = { first: number; last: number };

const RESERVED_FIRST = 5;
const RESERVED_LAST = 1;

/** What a subnet has for VMs: not its first five addresses, nor its last; null if nothing is left. */
export function usableRange(cidr: string): Range | null {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`BUG: subnet with the CIDR "${cidr}"`);
  const range = { first: block.first + RESERVED_FIRST, last: block.last - RESERVED_LAST };
  return range.first <= range.last ? range : null;
}

/** The first free address after `after`, going round at the end; null if all are taken. */
export function pickAddress(
  { first, last }: Range,
  { taken, after }: { taken: ReadonlySet<number>; after: number },
): number | null {
  const start = after >= first && after < last ? after + 1 : first;
  for (let address = start; address <= last; address += 1) if (!taken.has(address)) return address;
  for (let address = first; address < start; address += 1) if (!taken.has(address)) return address;
  return null;
}
