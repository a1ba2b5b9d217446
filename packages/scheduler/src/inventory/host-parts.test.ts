import { UNKNOWN_NODE } from '@gantry/placement/host';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { StoragePool__Output } from '@gantry/proto/generated/gantry/v1/StoragePool';
import { describe, expect, it } from 'vitest';
import { hostPartsOf, underlayAddressOf } from './host-parts.ts';
import { makeDrive, makeGpu, makeInventory } from './testing/make-inventory.ts';

const parts = (change: Partial<Inventory__Output> = {}) => hostPartsOf(makeInventory(change));

describe('the storage of a host', () => {
  const pool = (diskKinds: StoragePool__Output['diskKinds'], offeredGib: number) => ({
    ...{ name: 'pool', diskKinds, sizeBytes: '0', freeBytes: '0' },
    ...{ offeredBytes: String(offeredGib * 1024 ** 3), lacksSnapshots: '' },
  });
  const disks = pool(['DISK_KIND_PERSISTENT_SSD'], 1700.9);
  const shared = pool(['DISK_KIND_SHARED_VOLUME'], 9000);

  it('is what the pool of disks offers, in whole GiB', () => {
    expect(parts({ storagePools: [shared, disks] }).storageGib).toBe(1700);
  });

  it('is larger than any disk if the pool offers more than the database stores', () => {
    const huge = pool(['DISK_KIND_PERSISTENT_SSD'], 2 ** 40);
    expect(parts({ storagePools: [huge] }).storageGib).toBe(2_147_483_647);
  });

  it.each([
    ['an agent of an earlier version', { storagePools: [] }],
    ['a pool of disks that could not be read', { storagePools: [shared] }],
    ['storage that hosts share', { sharedStorage: true, storagePools: [disks] }],
  ])('has no limit for %s', (_, inventory) => {
    expect(parts(inventory).storageGib).toBeNull();
  });
});

describe('hostPartsOf', () => {
  it('takes what the agent offers and deducts nothing from it', () => {
    const memoryBytes = String(100 * 1024 ** 3);
    const node = { cpus: '0-15,32-47', memoryBytes, hugepages: [], distances: [] };
    const { numaNodes } = parts({
      cpu: { model: '', architecture: 'x64', sockets: 2, cores: 32, threads: 64 },
      numaNodes: [
        { ...node, id: 0, offeredCores: 30, offeredMemoryMib: 90_000 },
        { ...node, id: 1, offeredCores: 0, offeredMemoryMib: 0 },
      ],
    });
    expect(numaNodes).toMatchObject([
      { node: 0, cores: 30, memoryMib: 90_000 },
      { node: 1, cores: 0, memoryMib: 0 },
    ]);
  });

  it('counts physical cores and reserved memory if the agent reports no offer', () => {
    const { numaNodes } = parts({
      cpu: { model: '', architecture: 'x64', sockets: 2, cores: 32, threads: 64 },
      numaNodes: [
        {
          id: 0,
          cpus: '0-15,32-47',
          memoryBytes: '1000',
          hugepages: [{ pageKib: 1_048_576, total: 100, free: 0 }],
          distances: [10, 32],
        },
        {
          id: 1,
          cpus: '16-31,48-63',
          memoryBytes: String(100 * 1024 ** 3),
          hugepages: [],
          distances: [32, 10],
        },
      ],
    });
    expect(numaNodes).toMatchObject([
      { node: 0, cores: 16, memoryMib: 102_400 },
      { node: 1, cores: 16, memoryMib: 100_352 },
    ]);
  });

  it('treats a host without NUMA as one node and a node without CPUs as memory only', () => {
    expect(parts({ numaNodes: [] }).numaNodes).toMatchObject([{ node: 0, cores: 8 }]);
    const memoryOnly = [{ id: 3, cpus: '', memoryBytes: '1048576', hugepages: [], distances: [] }];
    expect(parts({ numaNodes: memoryOnly }).numaNodes).toMatchObject([{ node: 3, cores: 0 }]);
  });

  it('divides the speed of active NICs between the nodes and counts neither bonds nor InfiniBand', () => {
    const nic = {
      name: 'e0',
      mac: '',
      pciAddress: '0000:01:00.0',
      speedMbps: 100_000,
      mtu: 1500,
      up: true,
      infiniband: false,
    };
    const nics = [
      nic,
      { ...nic, name: 'e1', up: false },
      { ...nic, name: 'bond0', pciAddress: '' },
      { ...nic, name: 'ib0', infiniband: true },
    ];
    const node = { cpus: '0', memoryBytes: '0', hugepages: [], distances: [] };
    const numaNodes = [
      { ...node, id: 0 },
      { ...node, id: 1 },
    ];
    expect(parts({ nics, numaNodes }).numaNodes.map(({ networkGbps }) => networkGbps)).toEqual([
      50, 50,
    ]);
    expect(parts({ nics: [] }).numaNodes[0]?.networkGbps).toBe(400);
  });

  it('lists the socket of each node and its distances, unless the agent reports neither', () => {
    const node = { cpus: '0', memoryBytes: '0', hugepages: [], distances: [10, 12], socket: 0 };
    const numaNodes = [
      { ...node, id: 0 },
      { ...node, id: 1, distances: [] },
    ];
    const [first, second] = parts({ numaNodes }).numaNodes;
    expect(first).toMatchObject({ node: 0, socket: 0, distances: [10, 12] });
    expect(second).not.toHaveProperty('distances');
    const { socket: _, distances: __, ...ofEarlierAgent } = { ...node, id: 0 };
    const [stored] = parts({
      numaNodes: [ofEarlierAgent as typeof node & { id: number }],
    }).numaNodes;
    expect(Object.keys(stored ?? {})).toEqual(['node', 'cores', 'memoryMib', 'networkGbps']);
  });

  it('lists GPUs with model, node, switch, IOMMU group and NVLink peer, and no unknown kind', () => {
    const { devices: gpus } = parts({
      devices: [
        makeGpu('0000:10:00.0', {
          ...{ numaNode: 1, iommuGroup: 7, bridges: ['a', 'b', 'c'] },
          attributes: { nvlink_bridge: '0000:11:00.0' },
        }),
        makeGpu('0000:11:00.0', { bridges: ['a', 'b', 'd'] }),
        makeGpu('0000:12:00.0', {
          bridges: ['e'],
          attributes: { nvlink_peer: '0000:10:00.0' },
        }),
        makeGpu('0000:13:00.0', { kind: 'of-a-newer-agent' }),
      ],
    });
    expect(gpus).toMatchObject([
      {
        kind: 'gpu',
        pciAddress: '0000:10:00.0',
        numaNode: 1,
        iommuGroup: 7,
        nvlinkPeer: '0000:11:00.0',
      },
      { pciAddress: '0000:11:00.0', numaNode: UNKNOWN_NODE, iommuGroup: null },
      // Earlier agents do not keep pairs together.
      { pciAddress: '0000:12:00.0', nvlinkPeer: '' },
    ]);
    expect(gpus[0]?.pcieSwitch).toBe(gpus[1]?.pcieSwitch);
    expect(gpus[2]?.pcieSwitch).not.toBe(gpus[0]?.pcieSwitch);
  });

  it('lists drives with their size in whole GB and their uses on the host', () => {
    const uses = ['mounted at /data'];
    const devices = [makeDrive('0000:80:00.0', { serial: 'S1', sizeBytes: '960197124096', uses })];
    expect(parts({ devices }).devices).toMatchObject([
      {
        kind: 'drive',
        pciAddress: '0000:80:00.0',
        serial: 'S1',
        sizeGb: 960,
        numaNode: UNKNOWN_NODE,
        uses,
      },
    ]);
  });
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['', null],
  ['127.0.0.1', null],
  ['239.1.1.1', null],
  ['255.255.255.255', null],
  ['192.0.2.7/24', null],
  ["'; drop table hosts", null],
])('a host that reports the underlay address "%s" has the address %s', (underlayIpv4, address) => {
  expect(underlayAddressOf(makeInventory({ underlayIpv4 }))).toBe(address);
});
