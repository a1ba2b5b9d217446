import { describe, expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';
import { countFitting } from './count-fitting.ts';
import { explainHost } from './explain-host.ts';
import {
  FILTERS,
  type Placement,
  type PlacementHost,
  type PlacementRequest,
  UNKNOWN_NODE,
} from './host.ts';
import { type HostIndex, newHostIndex } from './host-index.ts';
import { sharesFor } from './shares-for.ts';
import { canTake, fitOf, leastScore } from './testing/brute-force.ts';
import { makeHost, makeRequest } from './testing/make-host.ts';
import { seededRandom } from './testing/random.ts';

const isAvailable = (index: HostIndex, request: PlacementRequest) =>
  countFitting(index, request, 1) === 1;

type Random = () => number;
const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('BUG: nothing to pick from');
  return item;
};

/**
 * A host with random bridges, shared IOMMU groups, mixed models, broken devices, or cordoned; with nodes without GPUs,
 * drives on one node, or devices of an unknown node.
 */
function randomHost(random: Random, id: string): PlacementHost {
  const nodes = pick(random, [1, 2, 2, 4]);
  const host = makeHost({
    id,
    gpus: pick(random, [4, 8, 8, 10]),
    nodes,
    gpusPerSwitch: pick(random, [1, 2, 4]),
    bridged: random() < 0.5,
    coresPerGpu: pick(random, [6, 6, 5]),
  });
  const hidden = random() < 0.1;
  const gpusTogether = random() < 0.3;
  const drivesTogether = random() < 0.3;
  const socketOf = (node: number) => (nodes === 4 ? node >> 1 : node);
  const inPairs = random() < 0.2;
  const perNode = Math.ceil(host.gpus.length / nodes);
  const groupOf = (i: number) =>
    inPairs ? 16 * Math.floor(i / perNode) + ((i % perNode) >> 1) : i;
  const mixed = random() < 0.2;
  return {
    ...host,
    location: pick(random, ['one', 'one', 'two']),
    ...(random() < 0.6 && { freeStorageGib: pick(random, [-100, 300, 400, 1000]) }),
    lacksNesting: random() < 0.3,
    reachesVolumes: random() < 0.7,
    adminState: random() < 0.1 ? 'cordoned' : 'active',
    numaNodes: host.numaNodes.map((node) => ({
      ...node,
      ...(nodes === 4 && { socket: socketOf(node.node) }),
      distances: host.numaNodes.map((to) => 10 + 2 * Math.abs(to.node - node.node)),
    })),
    gpus: host.gpus.map((gpu, i) => ({
      ...gpu,
      numaNode: hidden ? UNKNOWN_NODE : gpusTogether ? gpu.numaNode & ~1 : gpu.numaNode,
      model: mixed && i % 4 === 3 ? 'L40S' : gpu.model,
      iommuGroup: groupOf(i),
      state: random() < 0.05 ? 'quarantined' : 'free',
    })),
    companions: host.companions.map((drive, i) => ({
      ...drive,
      numaNode: hidden ? UNKNOWN_NODE : drivesTogether ? 0 : drive.numaNode,
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
    nested: random() < 0.2,
    newDisksGib: pick(random, [0, 100, 100, 128, 500]),
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
  const pairs = gpus.flatMap(({ nvlinkPeer }) => nvlinkPeer ?? []);
  expect(placement.gpuIds).toEqual(expect.arrayContaining(pairs));
  const drives = host.companions.filter(({ id }) => placement.companionIds.includes(id));
  const [wanted = { count: 0, sizeGb: 0 }] = request.companions;
  expect(drives).toHaveLength(wanted.count);
  expect(drives.every(({ state, sizeGb }) => state === 'free' && sizeGb >= wanted.sizeGb)).toBe(
    true,
  );
  for (const amount of ['cores', 'memoryMib', 'networkGbps'] as const) {
    const shares = placement.numaNodes.map((share) => share[amount]);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(request[amount]);
  }
  expect(request.nested && host.lacksNesting).toBeFalsy();
  expect(request.hasVolumes && !host.reachesVolumes).toBeFalsy();
  if (request.newDisksGib) expect(host.freeStorageGib).toBeGreaterThanOrEqual(request.newDisksGib);
  const isWithin = (share: { node: number; cores: number; memoryMib: number }) => {
    const has = host.numaNodes.find(({ node }) => node === share.node);
    return has && share.cores <= has.cores && share.memoryMib <= has.memoryMib;
  };
  expect(placement.numaNodes.every(isWithin)).toBe(true);
  const isKnown = gpus.every(({ numaNode }) => numaNode !== UNKNOWN_NODE);
  const local = sharesFor(host, placement.gpuIds, request);
  if (isKnown && local.every(isWithin)) expect(placement.numaNodes).toEqual(local);
  // A node gives away drives only after its own GPUs have theirs.
  for (const { node, gpus: count } of isKnown ? local : []) {
    const own = drives.filter(({ numaNode }) => numaNode === node).length;
    const free = host.companions.filter(
      (one) => one.numaNode === node && one.state === 'free' && one.sizeGb >= wanted.sizeGb,
    );
    const needed = Math.floor((wanted.count * count) / request.gpuCount);
    expect(own).toBeGreaterThanOrEqual(Math.min(needed, free.length));
  }
}

/** The filters that `explainHost` names for each host, counted like the reasons of `chooseHost`. */
function countedReasons(hosts: PlacementHost[], request: PlacementRequest) {
  const failed = hosts.map((host) => explainHost(host, request));
  const counts = FILTERS.map((filter, i) => ({
    filter,
    left: failed.filter((one) => !('failed' in one) || FILTERS.indexOf(one.failed) > i).length,
  }));
  return counts.slice(0, counts.findIndex(({ left }) => left === 0) + 1);
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
      expect(hosts.some((host) => canTake(host, request))).toBe(least !== null);
      if ('reasons' in reply) {
        expect(least).toBeNull();
        const left = reply.reasons.map((reason) => reason.left);
        expect(left).toEqual(left.toSorted((a, b) => b - a));
        expect(left.indexOf(0)).toBe(left.length - 1);
        expect(left[0]).toBe(hosts.filter((host) => host.location === request.location).length);
        expect(reply.reasons).toEqual(countedReasons(hosts, request));
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

  it.each([1, 2, 3, 4])('never counts fewer VMs than fit (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let step = 0; step < 30; step += 1) {
      const index = newHostIndex();
      for (let i = 0; i < 4; i += 1) index.put(randomHost(random, `h${i}`));
      const request = randomRequest(random);
      const counted = countFitting(index, request, 1000);
      let fitting = 0;
      for (;;) {
        const reply = chooseHost(index, request);
        if ('reasons' in reply) break;
        index.claim(reply);
        fitting += 1;
      }
      expect(counted).toBeGreaterThanOrEqual(fitting);
      expect(counted > 0).toBe(fitting > 0);
    }
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
