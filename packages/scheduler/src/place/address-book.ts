/**
 * Private addresses for a batch of VMs. Each subnet has a place where the last one was taken, and the
 * search goes on from there: an address that was given back rests until the others had their turn.
 * Only what lies ahead is read; where that is full, the whole subnet. What is picked here becomes a
 * claim or is forgotten: two that pick the same are told apart by the claims' key.
 */
import type { AddressRange, TakenAddress } from '@gantry/db/queries/networks/addresses';
import { formatIpv4, parseIpv4 } from '@gantry/model/cidr';
import { pickAddress, type Range, usableRange } from './pick-address.ts';

export type SubnetNeed = { cidr: string; count: number };

export type AddressBook = {
  /** Reads what a batch needs to know. */
  open(needs: ReadonlyMap<string, SubnetNeed>): Promise<OpenAddresses>;
  /** Others pick too: read whole subnets again. */
  forget(): void;
};

/** Null: the subnet has none left. */
export type OpenAddresses = { take(subnetId: string): string | null };

/** Addresses read ahead beyond those needed: a stretch this full is rare. */
const AHEAD = 64;
/** Places remembered; beyond this all are forgotten, which costs a longer read each. */
const MOST_PLACES = 100_000;

type Page = { range: Range; taken: Set<number> };

/** What is claimed in each of these ranges. */
export type ReadTaken = (ranges: readonly AddressRange[]) => Promise<TakenAddress[]>;

export function openAddressBook(readTaken: ReadTaken): AddressBook {
  const places = new Map<string, number>();

  const readPages = async (ranges: ReadonlyMap<string, Range>): Promise<Map<string, Page>> => {
    const pages = new Map<string, Page>();
    for (const [id, range] of ranges) pages.set(id, { range, taken: new Set() });
    const asked = [...ranges].map(([subnetId, { first, last }]) => ({
      ...{ subnetId, from: formatIpv4(first), to: formatIpv4(last) },
    }));
    const rows = asked.length > 0 ? await readTaken(asked) : [];
    for (const { subnet_id, address } of rows)
      pages.get(subnet_id)?.taken.add(parseIpv4(address) ?? 0);
    return pages;
  };

  /** The stretch after the place of the last one; null where that is unknown or near the end. */
  const rangeAhead = (subnetId: string, whole: Range, count: number): Range | null => {
    const place = places.get(subnetId);
    if (place === undefined || place + count + AHEAD > whole.last) return null;
    return { first: place + 1, last: place + count + AHEAD };
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
      if (places.size > MOST_PLACES) places.clear();
      return {
        take(subnetId) {
          const page = pages.get(subnetId);
          if (!page) return null;
          const after = places.get(subnetId) ?? highest(page.taken);
          const picked = pickAddress(page.range, { taken: page.taken, after });
          if (picked === null) return null;
          page.taken.add(picked);
          places.set(subnetId, picked);
          return formatIpv4(picked);
        },
      };
    },
    forget: () => places.clear(),
  };
}

function highest(taken: ReadonlySet<number>): number {
  let most = 0;
  for (const address of taken) if (address > most) most = address;
  return most;
}
