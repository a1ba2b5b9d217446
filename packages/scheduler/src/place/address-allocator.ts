/**
 * Allocates private addresses for a batch of VMs. The search in a subnet continues after the last
 * allocated address, so a released address is reused as late as possible. Only the addresses ahead are
 * read, or the whole subnet if those are taken. What was read ahead is kept for the next batches: only
 * the holder of the location's lease allocates there. An allocated address becomes a claim, or is dropped.
 * The primary key of the claims prevents double allocation by two schedulers.
 */
import type { AddressRange, TakenAddress } from '@gantry/db/queries/networks/addresses';
import { formatIpv4, parseIpv4 } from '@gantry/model/cidr';
import { pickAddress, type Range, usableRange } from './pick-address.ts';

export type SubnetNeed = { cidr: string; count: number };

export type AddressAllocator = {
  /** Reads the taken addresses that a batch needs to know. */
  open(needs: ReadonlyMap<string, SubnetNeed>): Promise<OpenAddresses>;
  /** Call this after a conflict with another scheduler: whole subnets are read again. */
  forget(): void;
};

/** `take` returns null if the subnet has no free address. */
export type OpenAddresses = { take(subnetId: string): string | null };

/** The number of extra addresses to read ahead. So many taken addresses in a row are rare. */
const AHEAD = 64;
/** With this many remembered subnets all are dropped, which costs one longer read per subnet. */
const MOST_SUBNETS = 100_000;

type Page = { range: Range; taken: Set<number> };

/** Returns the claimed addresses in these ranges. */
export type ReadTaken = (ranges: readonly AddressRange[]) => Promise<TakenAddress[]>;

export function createAddressAllocator(readTaken: ReadTaken): AddressAllocator {
  const positions = new Map<string, number>();
  /** The addresses after each position that were read ahead. */
  const kept = new Map<string, Page>();

  const readPages = async (ranges: ReadonlyMap<string, Range>): Promise<Map<string, Page>> => {
    const pages = new Map<string, Page>();
    for (const [id, range] of ranges) pages.set(id, { range, taken: new Set() });
    const asked = [...ranges].map(([subnetId, { first, last }]) => ({
      subnetId,
      from: formatIpv4(first),
      to: formatIpv4(last),
    }));
    const rows = asked.length > 0 ? await readTaken(asked) : [];
    for (const { subnet_id, address } of rows)
      pages.get(subnet_id)?.taken.add(parseIpv4(address) ?? 0);
    return pages;
  };

  /** The range after the last position; null if that is unknown or near the end of the subnet. */
  const rangeAhead = (subnetId: string, whole: Range, count: number): Range | null => {
    const position = positions.get(subnetId);
    if (position === undefined || position + count + AHEAD > whole.last) return null;
    return { first: position + 1, last: position + count + AHEAD };
  };

  const forget = () => {
    positions.clear();
    kept.clear();
  };

  return {
    async open(needs) {
      const pages = new Map<string, Page>();
      const wholes = new Map<string, Range>();
      const ahead = new Map<string, Range>();
      for (const [id, { cidr, count }] of needs) {
        const whole = usableRange(cidr);
        if (!whole) continue;
        const page = kept.get(id);
        const range = rangeAhead(id, whole, count);
        if (page && countFree(page, positions.get(id)) >= count) pages.set(id, page);
        else if (range) ahead.set(id, range);
        else wholes.set(id, whole);
        if (!pages.has(id)) kept.delete(id);
      }
      if (positions.size > MOST_SUBNETS) forget();
      for (const [id, page] of await readPages(ahead)) {
        const { cidr, count } = needs.get(id) ?? { cidr: '', count: 0 };
        const whole = usableRange(cidr);
        if (whole && countFree(page, positions.get(id)) < count) wholes.set(id, whole);
        else kept.set(id, page);
        pages.set(id, page);
      }
      for (const [id, page] of await readPages(wholes)) pages.set(id, page);
      return {
        take(subnetId) {
          const page = pages.get(subnetId);
          if (!page) return null;
          const after = positions.get(subnetId) ?? highest(page.taken);
          const picked = pickAddress(page.range, { taken: page.taken, after });
          if (picked === null) return null;
          page.taken.add(picked);
          positions.set(subnetId, picked);
          return formatIpv4(picked);
        },
      };
    },
    forget,
  };
}

/** The number of free addresses of a page after a position. */
function countFree({ range, taken }: Page, position = 0): number {
  let free = 0;
  for (let at = Math.max(range.first, position + 1); at <= range.last; at += 1)
    if (!taken.has(at)) free += 1;
  return free;
}

function highest(taken: ReadonlySet<number>): number {
  let most = 0;
  for (const address of taken) if (address > most) most = address;
  return most;
}
