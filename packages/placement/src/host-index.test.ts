import { describe, expect, it } from 'vitest';
import { chooseHost, isAvailable } from './choose-host.ts';
import type { Placement, PlacementHost, PlacementRequest } from './host.ts';
import { newHostIndex } from './host-index.ts';
import { sharesFor } from './shares-for.ts';
import { fitOf, leastScore } from './testing/brute-force.ts';
import { makeHost, makeRequest } from './testing/make-host.ts';
import { seededRandom } from './testing/random.ts';

type Random = () => number;
const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('BUG: nothing to pick from');
  return item;
};

/** A host with random bridges, shared IOMMU groups, mixed models, broken devices, or cordoned. */
function randomHost(random: Random, id: string): PlacementHost {
  const host = makeHost({
    id,
    gpus: pick(random, [4, 8, 8, 10]),
    nodes: pick(random, [1, 2, 2]),
    gpusPerSwitch: pick(random, [1, 2, 4]),
    bridged: random() < 0.5,
    coresPerGpu: pick(random, [6, 6, 5]),
  });
  const inPairs = random() < 0.2;
  const mixed = random() < 0.2;
  return {
    ...host,
    location: pick(random, ['one', 'one', 'two']),
    adminState: random() < 0.1 ? 'cordoned' : 'active',
    gpus: host.gpus.map((gpu, i) => ({
      ...gpu,
      model: mixed && i % 4 === 3 ? 'L40S' : gpu.model,
      iommuGroup: inPairs ? i >> 1 : i,
      state: random() < 0.05 ? 'quarantined' : 'free',
    })),
    companions: host.companions.map((drive, i) => ({
      ...drive,
      sizeGb: i % 3 === 0 ? 1920 : 960,
      state: random() < 0.05 ? 'quarantined' : 'free',
    })),
  };
}

function randomRequest(random: Random): PlacementRequest {
  const count = pick(random, [1, 1, 2, 3, 4, 8, 10]);
  return makeRequest(count, {
    location: pick(random, ['one', 'two']),
    gpuModel: pick(random, ['A40', 'A40', 'A40', 'L40S']),
    cores: count * pick(random, [2, 6]),
    companions: pick(random, [[], [{ kind: 'drive', count, sizeGb: pick(random, [960, 1920]) }]]),
    maySplit: random() < 0.5,
  });
}

function expectSound(host: PlacementHost, placement: Placement, request: PlacementRequest): void {
  const gpus = host.gpus.filter(({ id }) => placement.gpuIds.includes(id));
  expect(gpus).toHaveLength(request.gpuCount);
  expect(gpus.every(({ state, model }) => state === 'free' && model === request.gpuModel)).toBe(
    true,
  );
  const groups = new Set(gpus.map(({ iommuGroup }) => iommuGroup));
  expect(host.gpus.filter(({ iommuGroup }) => groups.has(iommuGroup))).toHaveLength(gpus.length);
  const drives = host.companions.filter(({ id }) => placement.companionIds.includes(id));
  const [wanted = { count: 0, sizeGb: 0 }] = request.companions;
  expect(drives).toHaveLength(wanted.count);
  expect(drives.every(({ state, sizeGb }) => state === 'free' && sizeGb >= wanted.sizeGb)).toBe(
    true,
  );
  const nodes = new Set(gpus.map(({ numaNode }) => numaNode));
  expect(drives.every(({ numaNode }) => nodes.has(numaNode))).toBe(true);
  expect(new Set(placement.numaNodes.map(({ node }) => node))).toEqual(nodes);
  expect(sharesFor(host, placement.gpuIds, request)).toEqual(placement.numaNodes);
  for (const amount of ['cores', 'memoryMib', 'networkGbps'] as const) {
    const shares = placement.numaNodes.map((share) => share[amount]);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(request[amount]);
    for (const share of placement.numaNodes) {
      const has = host.numaNodes.find(({ node }) => node === share.node)?.[amount] ?? 0;
      expect(share[amount]).toBeLessThanOrEqual(has);
    }
  }
}

describe('the host index', () => {
  it.each([1, 2, 3, 4, 5, 6])('gives the same result as visiting every host (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const index = newHostIndex();
    const ids = Array.from({ length: 12 }, (_, i) => `h${i}`);
    for (const id of ids) index.put(randomHost(random, id));
    const live: Placement[] = [];
    for (let step = 0; step < 300; step += 1) {
      const hosts = ids.flatMap((id) => index.read(id) ?? []);
      const request = randomRequest(random);
      const reply = chooseHost(index, request);
      const least = leastScore(hosts, request);
      expect(isAvailable(index, request)).toBe(least !== null);
      if ('reasons' in reply) {
        expect(least).toBeNull();
        const left = reply.reasons.map((reason) => reason.left);
        expect(left).toEqual(left.toSorted((a, b) => b - a));
        expect(left.indexOf(0)).toBe(left.length - 1);
        expect(left[0]).toBe(hosts.filter((host) => host.location === request.location).length);
      } else {
        const host = hosts.find(({ id }) => id === reply.hostId);
        if (!host) throw new Error('BUG: an unknown host was chosen');
        expect(fitOf(host, request)?.score).toBe(least);
        expectSound(host, reply, request);
        index.claim(reply);
        live.push(reply);
      }
      if (random() < 0.4 && live.length > 0) {
        const [gone] = live.splice(Math.floor(random() * live.length), 1);
        if (gone) index.release(gone);
      }
    }
    const before = ids.map((id) => index.read(id));
    for (const host of before) if (host) index.put(host);
    expect(ids.map((id) => index.read(id))).toEqual(before);
  });

  it('returns to its first state when all placements are released', () => {
    const index = newHostIndex();
    index.put(makeHost());
    const before = index.read('host');
    const placements = [3, 3, 2].map((count) => {
      const reply = chooseHost(index, makeRequest(count, { maySplit: true }));
      if ('reasons' in reply) throw new Error('no host');
      index.claim(reply);
      return reply;
    });
    expect(isAvailable(index, makeRequest(1))).toBe(false);
    for (const placement of placements) index.release(placement);
    expect(index.read('host')).toEqual(before);
  });

  it('throws for a second claim, a second release and an unknown device or host', () => {
    const index = newHostIndex();
    index.put(makeHost());
    const reply = chooseHost(index, makeRequest(2));
    if ('reasons' in reply) throw new Error('no host');
    expect(() => index.release(reply)).toThrow('BUG');
    index.claim(reply);
    expect(() => index.claim(reply)).toThrow('BUG');
    expect(() => index.claim({ ...reply, gpuIds: ['x'] })).toThrow('BUG');
    index.release({ ...reply, gpuIds: reply.gpuIds.toReversed() });
    index.remove('host');
    expect(index.read('host')).toBeNull();
    expect(() => index.claim(reply)).toThrow('BUG');
    expect(() => index.release(reply)).not.toThrow();
  });
});
