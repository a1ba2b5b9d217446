import { describe, expect, it } from 'vitest';
import { chooseHost, type Policy } from './choose-host.ts';
import { countFitting } from './count-fitting.ts';
import { explainHost } from './explain-host.ts';
import type { HostGpu, Placement, PlacementHost, PlacementRequest } from './host.ts';
import { type HostIndex, newHostIndex } from './host-index.ts';
import { makeHost, makeRequest } from './testing/make-host.ts';

const isAvailable = (index: HostIndex, request: PlacementRequest) =>
  countFitting(index, request, 1) === 1;

function indexOf(...hosts: PlacementHost[]): HostIndex {
  const index = newHostIndex();
  for (const host of hosts) index.put(host);
  return index;
}

function placed(index: HostIndex, request: PlacementRequest, policies: Policy[] = []): Placement {
  const reply = chooseHost(index, request, policies);
  if ('reasons' in reply) throw new Error(JSON.stringify(reply.reasons));
  index.claim(reply);
  return reply;
}

describe('chooseHost', () => {
  it('takes drives, cores and memory from the NUMA node of the GPUs', () => {
    const index = indexOf(makeHost());
    placed(index, makeRequest(4));
    const placement = placed(index, makeRequest(2));
    expect(placement).toEqual({
      hostId: 'host',
      newDisksGib: 0,
      gpuIds: ['host-g4', 'host-g5'],
      companionIds: ['host-d4', 'host-d5'],
      numaNodes: [{ node: 1, gpus: 2, cores: 12, memoryMib: 122_880, networkGbps: 50 }],
    });
  });

  it('uses no empty host while a host in use has room', () => {
    const index = indexOf(makeHost({ id: 'a' }), makeHost({ id: 'b' }), makeHost({ id: 'c' }));
    const first = placed(index, makeRequest(1)).hostId;
    const next = [1, 2, 4].map((count) => placed(index, makeRequest(count)).hostId);
    expect(next).toEqual([first, first, first]);
    expect(placed(index, makeRequest(8)).hostId).not.toBe(first);
  });

  it('fills a small host before it takes GPUs from a large one', () => {
    const index = indexOf(makeHost({ id: 'large' }));
    placed(index, makeRequest(1));
    index.put(makeHost({ id: 'small', gpus: 2, nodes: 1 }));
    expect(placed(index, makeRequest(2)).hostId).toBe('small');
    expect(placed(index, makeRequest(2)).hostId).toBe('large');
  });

  it.each(['cores', 'memoryMib'] as const)('uses up %s and GPUs together', (amount) => {
    const [one, half] = [
      makeRequest(1),
      { ...makeRequest(1), [amount]: makeRequest(1)[amount] / 2 },
    ];
    for (const [first, second] of [
      [one, half],
      [half, one],
    ] as const) {
      const index = indexOf(makeHost({ id: 'a' }));
      placed(index, first);
      index.put(makeHost({ id: 'b' }));
      index.claim(placed(indexOf(makeHost({ id: 'b' })), second));
      expect(placed(index, makeRequest(1)).hostId).toBe(first === one ? 'a' : 'b');
    }
  });

  it('fills the smallest gap among all hosts', () => {
    const index = indexOf(makeHost({ id: 'a' }));
    placed(index, makeRequest(3));
    index.put(makeHost({ id: 'b' }));
    index.claim(placed(indexOf(makeHost({ id: 'b' })), makeRequest(2)));
    expect(placed(index, makeRequest(1)).hostId).toBe('a');
  });

  it('splits a request with maySplit only if no NUMA node of any host has enough GPUs', () => {
    const index = indexOf(makeHost({ id: 'a' }), makeHost({ id: 'b' }));
    const may = (gpus: number) => placed(index, makeRequest(gpus, { maySplit: true })).numaNodes;
    for (let i = 0; i < 4; i += 1) expect(may(3)).toHaveLength(1);
    expect(may(2).map(({ gpus }) => gpus)).toEqual([1, 1]);
  });

  it('splits a request without maySplit only if it is larger than a NUMA node', () => {
    const index = indexOf(makeHost());
    expect(placed(index, makeRequest(8)).numaNodes).toHaveLength(2);
    index.put(makeHost());
    for (let i = 0; i < 2; i += 1) placed(index, makeRequest(3));
    expect(isAvailable(index, makeRequest(2, { maySplit: true }))).toBe(true);
    const reply = chooseHost(index, makeRequest(2));
    expect('reasons' in reply && reply.reasons.at(-1)).toEqual({ filter: 'numa_nodes', left: 0 });
  });

  it('chooses only hosts that all policies allow and counts the hosts after each policy', () => {
    const index = indexOf(makeHost({ id: 'a' }), makeHost({ id: 'b' }));
    const { hostId } = placed(index, makeRequest(1));
    const apart: Policy = { name: 'apart', allows: ({ id }) => id !== hostId };
    expect(chooseHost(index, makeRequest(1), [apart])).not.toMatchObject({ hostId });
    const none: Policy = { name: 'none', allows: () => false };
    expect(chooseHost(index, makeRequest(1), [apart, none])).toMatchObject({
      reasons: expect.arrayContaining([
        { filter: 'apart', left: 1 },
        { filter: 'none', left: 0 },
      ]),
    });
  });
});

it('a host without nested virtualization takes only VMs that do not need it', () => {
  const index = indexOf({ ...makeHost(), lacksNesting: true });
  expect(isAvailable(index, makeRequest(1, { nested: true }))).toBe(false);
  expect(isAvailable(index, makeRequest(1))).toBe(true);
  expect(isAvailable(index, makeRequest(1, { nested: true }))).toBe(false);
});

describe('hosts with NVLink bridges that are otherwise equal', () => {
  const bridgedHost = (id: string, plan: { pairs: [number, number][]; free: number[] }) => {
    const host = makeHost({ id, gpus: 6, nodes: 1 });
    return {
      ...host,
      gpus: host.gpus.map((gpu, i): HostGpu => {
        const peer = plan.pairs.find((ends) => ends.includes(i))?.find((end) => end !== i);
        return {
          ...gpu,
          nvlinkPeer: peer === undefined ? null : `${id}-g${peer}`,
          state: plan.free.includes(i) ? 'free' : 'claimed',
        };
      }),
    };
  };

  it('are told apart by the switches of a pair', () => {
    // Each two neighbours share a switch.
    const pairs: [number, number][] = [
      [0, 2],
      [4, 5],
    ];
    const near = bridgedHost('near', { pairs, free: [4, 5] });
    const far = bridgedHost('far', { pairs, free: [0, 2] });
    expect(chooseHost(indexOf(near, far), makeRequest(2))).toMatchObject({ hostId: 'near' });
  });

  it('are told apart by what prevents a VM: the bridges or the IOMMU groups', () => {
    const withGroup = (host: PlacementHost) => ({
      ...host,
      gpus: host.gpus.map((gpu, i) => ({ ...gpu, iommuGroup: Math.max(1, i) })),
    });
    const pairs: [number, number][] = [[1, 2]];
    // GPUs 0 and 1 share an IOMMU group.
    const grouped = withGroup(bridgedHost('grouped', { pairs, free: [0, 1] }));
    const bridged = withGroup(bridgedHost('bridged', { pairs, free: [0, 2] }));
    expect(explainHost(grouped, makeRequest(1))).toMatchObject({ failed: 'iommu_groups' });
    expect(explainHost(bridged, makeRequest(1))).toMatchObject({
      failed: 'nvlink_pairs',
      because: expect.stringMatching(/^1 GPUs requested; NVLink bridges join the free ones/),
    });
    expect(chooseHost(indexOf(grouped, bridged), makeRequest(1))).toMatchObject({
      reasons: expect.arrayContaining([
        { filter: 'iommu_groups', left: 1 },
        { filter: 'nvlink_pairs', left: 0 },
      ]),
    });
  });
});

describe('disk space', () => {
  it('is taken by the new disks of VMs and returned with them', () => {
    const index = indexOf({ ...makeHost(), freeStorageGib: 256 });
    const request = makeRequest(1, { newDisksGib: 128 });
    placed(index, request);
    const second = placed(index, request);
    expect(isAvailable(index, request)).toBe(false);
    index.release(second);
    expect(isAvailable(index, request)).toBe(true);
    expect(index.read('host')?.freeStorageGib).toBe(128);
  });

  it('is not needed by a VM whose disks exist', () => {
    const full = { ...makeHost(), freeStorageGib: -500 };
    const index = indexOf(full);
    expect(isAvailable(index, makeRequest(1, { newDisksGib: 0 }))).toBe(true);
    expect(isAvailable(index, makeRequest(1, { newDisksGib: 1 }))).toBe(false);
    expect(explainHost(full, makeRequest(1, { newDisksGib: 1 }))).toMatchObject({
      because: '1 GiB of new disks requested; free: 0 GiB',
    });
  });

  it('is looked for on all hosts that are otherwise equal', () => {
    const hosts = Array.from({ length: 5 }, (_, i) => ({
      ...makeHost({ id: `h${i}` }),
      freeStorageGib: i === 2 ? 128 : 127,
    }));
    const reply = chooseHost(indexOf(...hosts), makeRequest(1, { newDisksGib: 128 }));
    expect(reply).toMatchObject({ hostId: 'h2' });
  });
});

type Change = Partial<PlacementRequest>;
const misfits: [filter: string, request: Change, host: (host: PlacementHost) => PlacementHost][] = [
  ['location', { location: 'two' }, (host) => host],
  ['schedulable', {}, (host) => ({ ...host, ready: false })],
  ['schedulable', {}, (host) => ({ ...host, adminState: 'draining' })],
  ['schedulable', {}, (host) => ({ ...host, drifted: true })],
  ['gpu_model', { gpuModel: 'L40S' }, (host) => host],
  ['nested_virtualization', { nested: true }, (host) => ({ ...host, lacksNesting: true })],
  ['gpu_count', { gpuCount: 9 }, (host) => host],
  ['gpu_count', { gpuCount: 8 }, (host) => withGpu(host, { state: 'quarantined' })],
  ['gpu_count', { gpuCount: 8 }, (host) => withGpu(host, { state: 'claimed' })],
  ['iommu_groups', { gpuCount: 8 }, (host) => withGpu(host, { iommuGroup: null })],
  [
    'iommu_groups',
    { gpuCount: 8 },
    () => withGpu(makeHost({ bridged: true }), { iommuGroup: null }),
  ],
  ['nvlink_pairs', {}, () => makeHost({ bridged: true })],
  ['nvlink_pairs', { gpuCount: 7 }, () => makeHost({ bridged: true })],
  [
    'nvlink_pairs',
    { gpuCount: 7 },
    () => withGpu(makeHost({ bridged: true }), { state: 'claimed' }),
  ],
  ['cores', { cores: 49 }, (host) => host],
  ['memory', { memoryMib: 491_521 }, (host) => host],
  ['network', { networkGbps: 201 }, (host) => host],
  ['drives', { companions: [{ kind: 'drive', count: 9, sizeGb: 960 }] }, (host) => host],
  ['drives', { companions: [{ kind: 'drive', count: 1, sizeGb: 961 }] }, (host) => host],
  ['disk_space', { newDisksGib: 129 }, (host) => ({ ...host, freeStorageGib: 128 })],
  ['storage_network', { hasVolumes: true }, (host) => host],
];

function withGpu(host: PlacementHost, change: Partial<PlacementHost['gpus'][number]>) {
  return { ...host, gpus: host.gpus.map((gpu, i) => (i === 0 ? { ...gpu, ...change } : gpu)) };
}

describe('the reasons for no placement', () => {
  it.each(misfits)('end with the filter %s for the request %o', (filter, change, spoil) => {
    const host = spoil(makeHost());
    const index = indexOf(host);
    const request = makeRequest(1, change);
    const reply = chooseHost(index, request);
    expect('reasons' in reply && reply.reasons.at(-1)).toEqual({ filter, left: 0 });
    const before = 'reasons' in reply ? reply.reasons.slice(0, -1) : [];
    expect(before.every(({ left }) => left === 1)).toBe(true);
    expect(isAvailable(index, request)).toBe(false);
    expect(explainHost(host, request)).toMatchObject({ failed: filter });
  });

  it('are a sentence per host, or the placement if the host has room', () => {
    const host = withGpu(makeHost(), { state: 'quarantined' });
    expect(explainHost(host, makeRequest(8))).toEqual({
      failed: 'gpu_count',
      because: '8 GPUs requested; 7 free, 0 claimed, 1 quarantined',
    });
    const blocked = withGpu(host, { problem: 'it shares IOMMU group 7 with 0000:41:00.0' });
    expect(explainHost(blocked, makeRequest(8))).toMatchObject({
      because: expect.stringMatching(/1 quarantined: it shares IOMMU group 7 with 0000:41:00\.0$/),
    });
    expect(explainHost(host, makeRequest(4))).toMatchObject({
      placement: { gpuIds: ['host-g4', 'host-g5', 'host-g6', 'host-g7'] },
    });
  });
});
