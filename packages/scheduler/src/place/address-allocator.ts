/**
 * Allocates private addresses for a batch of VMs. The search in a subnet continues after the last
 * allocated address, so a released address is reused as late as possible. Only the addresses ahead are
 * read, or the whole subnet if those are taken. An allocated address becomes a claim, or is dropped.
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
/** With this many remembered positions all are dropped, which costs one longer read per subnet. */
const MOST_POSITIONS = 100_000;

type Page = { range: Range; taken: Set<number> };

/** Returns the claimed addresses in these ranges. */
export type ReadTaken = (ranges: readonly AddressRange[]) => Promise<TakenAddress[]>;

export function createAddressAllocator(readTaken: ReadTaken): AddressAllocator {
  const positions = new Map<string, number>();

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

  return {
    async open(needs) {
      const wholes = new Map<string, Range>();
      const ahead = new Map<string, Range>();
      for (const [id, { cidr, count }] of needs) {
        const whole = usableRange(cidr);
        if (!whole) continue;
        wholes.set(id, whole);
        const range = rangeAhead(id, whole, count);
        if (range) ahead.set(id, range);
      }
      const pages = await readPages(ahead);
      for (const [id, { range, taken }] of pages) {
        const free = range.last - range.first + 1 - taken.size;
        if (free >= (needs.get(id)?.count ?? 0)) wholes.delete(id);
      }
      for (const [id, page] of await readPages(wholes)) pages.set(id, page);
      if (positions.size > MOST_POSITIONS) positions.clear();
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
    forget: () => positions.clear(),
  };
}

function highest(taken: ReadonlySet<number>): number {
  let most = 0;
  for (const address of taken) if (address > most) most = address;
  return most;
}
