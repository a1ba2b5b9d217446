import { formatIpv4, parseCidr, parseIpv4 } from '@gantry/model/cidr';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAddressAllocator, type ReadTaken } from './address-allocator.ts';

/** Small subnets, so that they fill up, and one that is larger than one read. */
const SUBNETS = ['10.0.0.0/29', '10.0.0.32/28', '10.0.1.0/26', '10.0.2.0/24'];

type Batch = { needs: number[]; committed: boolean; released: number; forgets: boolean };
const batch: fc.Arbitrary<Batch> = fc.record({
  needs: fc.tuple(...SUBNETS.map((_, i) => fc.integer({ min: 0, max: [4, 9, 30, 120][i] ?? 0 }))),
  committed: fc.boolean(),
  /** The share of the claims that end afterwards, in percent. */
  released: fc.integer({ min: 0, max: 60 }),
  forgets: fc.boolean(),
});

it('every private address is assigned once, reserved ones never, and a request fails only if none is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { maxLength: 12 }), async (batches) => {
      const claims = SUBNETS.map(() => new Set<number>());
      const readTaken: ReadTaken = async (ranges) =>
        ranges.flatMap(({ subnetId, from, to }) =>
          [...(claims[Number(subnetId)] ?? [])]
            .filter((taken) => taken >= (parseIpv4(from) ?? 0) && taken <= (parseIpv4(to) ?? 0))
            .map((taken) => ({ subnet_id: subnetId, address: formatIpv4(taken) })),
        );
      const allocator = createAddressAllocator(readTaken);
      for (const { needs, committed, released, forgets } of batches) {
        const asked = needs.map(
          (count, i) => [String(i), { cidr: SUBNETS[i] ?? '', count }] as const,
        );
        const open = await allocator.open(new Map(asked.filter(([, { count }]) => count > 0)));
        for (const [id, { cidr, count }] of asked) {
          const block = parseCidr(cidr) ?? { first: 0, last: 0 };
          const claimed = claims[Number(id)] ?? new Set();
          const picked = Array.from({ length: count }, () => open.take(id));
          const given = picked.flatMap((address) =>
            address === null ? [] : [parseIpv4(address) ?? 0],
          );
          const usable = block.last - block.first + 1 - 6;
          expect(given).toHaveLength(Math.min(count, usable - claimed.size));
          expect(new Set(given).size).toBe(given.length);
          const wrong = (address: number) =>
            claimed.has(address) || address < block.first + 5 || address >= block.last;
          expect(given.filter(wrong)).toEqual([]);
          if (committed) for (const address of given) claimed.add(address);
          const ended = [...claimed].filter((address) => (address * 7919) % 100 < released);
          for (const address of ended) claimed.delete(address);
        }
        if (forgets) allocator.forget();
      }
    }),
    { numRuns: 100 },
  );
});
