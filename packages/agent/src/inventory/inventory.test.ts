import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIB, MIB } from '@gantry/daemon/units';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import { loadFleet } from '@gantry/proto/load';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree, writeSysfsTree } from '../base/sysfs-tree.ts';
import { DEFAULT_CAPACITY } from '../capacity/capacity-settings.ts';
import type { DriveSettings } from '../devices/kinds/drive/drive-kind.ts';
import type { GpuSettings } from '../devices/kinds/gpu/gpu-kind.ts';
import type { NvlinkPair } from '../devices/kinds/gpu/nvlink-pairs.ts';
import { createKinds } from '../devices/kinds/kinds.ts';
import type { HostFacts } from './host-facts.ts';
import { type HostInventory, type InventorySettings, readInventory } from './inventory.ts';

const GPU = '0000:41:00.0';
const GPU_AUDIO = '0000:41:00.1';
const OTHER_GPU = '0000:c1:00.0';

/** An H200's attributes as its kernel shows them. */
const H200: SysfsTree = {
  class: '0x030200',
  vendor: '0x10de',
  device: '0x233b',
  subsystem_vendor: '0x10de',
  subsystem_device: '0x18bf',
  numa_node: '1',
  reset_method: 'flr bus',
  max_link_speed: '32.0 GT/s PCIe',
  max_link_width: '16',
  current_link_speed: '16.0 GT/s PCIe',
  current_link_width: '8',
  aer_dev_correctable: 'RxErr 2\nTOTAL_ERR_COR 5',
  aer_dev_nonfatal: 'Undefined 0\nTOTAL_ERR_NONFATAL 1',
  aer_dev_fatal: 'Undefined 0\nTOTAL_ERR_FATAL 0',
  resource: [
    '0x0000104002000000 0x0000104002ffffff 0x000000000014220c',
    '0x0000000000000000 0x0000000000000000 0x0000000000000000',
    '0x0000100000000000 0x0000103fffffffff 0x000000000014220c',
  ].join('\n'),
  config: Buffer.from([0xde, 0x10, 0x35, 0x23, 0, 0, 0, 0]),
  driver: { link: '../../../bus/pci/drivers/vfio-pci' },
  iommu_group: { link: '../../../../kernel/iommu_groups/17' },
};

const TREE: SysfsTree = {
  ...pciTree(GPU, H200),
  [`kernel/iommu_groups/17/devices/${GPU}`]: '',
  [`kernel/iommu_groups/17/devices/${GPU_AUDIO}`]: '',
  'kernel/iommu_groups/17/type': 'identity',
  'kernel/iommu_groups/18/type': 'DMA-FQ',
  'kernel/iommu_groups/19/type': 'DMA',
  ...pciTree(GPU_AUDIO, { class: '0x040300', vendor: '0x10de', device: '0x22ba' }),
  // A card without NUMA node, IOMMU group, driver, reset or link.
  ...pciTree(OTHER_GPU, {
    class: '0x030000',
    vendor: '0x1002',
    device: '0x74A1',
    numa_node: '-1',
  }),
  // A management controller's display adapter.
  ...pciTree('0000:03:00.0', { class: '0x030000', vendor: '0x1a03', device: '0x2000' }),
  // A virtual function of the first card.
  ...pciTree('0000:41:00.4', {
    class: '0x030200',
    vendor: '0x10de',
    device: '0x233b',
    physfn: { link: '../0000:41:00.0' },
  }),
  ...pciTree('0000:21:00.0', {
    class: '0x010802',
    vendor: '0x144d',
    device: '0xa80a',
    driver: { link: '../../../bus/pci/drivers/nvme' },
    'nvme/nvme0/serial': 'S64GNE0R000001      ',
    'nvme/nvme0/model': 'SAMSUNG MZQL2960HCJR',
    'nvme/nvme0/firmware_rev': 'GDC5602Q',
    'nvme/nvme0/nvme0n1/size': '1875385008',
    'nvme/nvme0/nvme0n1/queue/logical_block_size': '4096',
    'nvme/nvme0/nvme0n2/size': '8',
  }),
  ...pciTree('0000:22:00.0', { class: '0x010802', vendor: '0x144d', device: '0xa80a' }),
  'devices/system/node/node0/cpulist': '0-15,32-47',
  'devices/system/node/node0/meminfo': 'Node 0 MemTotal:       263840372 kB\nNode 0 MemFree: 1 kB',
  'devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages': '200',
  'devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages': '80',
  'devices/system/node/node10/cpulist': '',
  'devices/system/node/online': '0,10',
  'class/dmi/id/bios_version': '2.4.1',
  'class/net/ens1/device': { link: '../../../0000:81:00.0' },
  'class/net/ens1/address': 'b8:3f:d2:00:00:01',
  'class/net/ens1/speed': '100000',
  'class/net/ens1/mtu': '9000',
  'class/net/ens1/operstate': 'up',
  'class/net/bond0/bonding/mode': '802.3ad 4',
  'class/net/bond0/address': 'b8:3f:d2:00:00:01',
  'class/net/bond0/speed': '-1',
  'class/net/bond0/mtu': '1500',
  'class/net/bond0/operstate': 'down',
  'class/net/tap0/address': 'fe:54:00:00:00:01',
};

let root = '';
const warnings: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sysfs-'));
  warnings.length = 0;
});
afterEach(() => rm(root, { recursive: true }));

const FACTS: HostFacts = {
  cpu: { model: 'AMD EPYC 7543', architecture: 'x64', sockets: 2, cores: 64, threads: 128 },
  memoryBytes: 270_172_540_928,
  os: 'Ubuntu 24.04',
  kernel: '6.8.0-48-generic',
  libvirt: '10.0.0',
};

const kindsWith = ({ gpu, drive = {} }: { gpu?: Partial<GpuSettings>; drive?: DriveSettings }) =>
  createKinds({ gpu: { vendorIds: ['10de', '1002'], ...gpu }, drive });

function read(options: Partial<InventorySettings> = {}) {
  return readInventory({
    sysfsRoot: root,
    kinds: kindsWith({}),
    capacity: DEFAULT_CAPACITY,
    sharedStorage: false,
    facts: FACTS,
    libvirtSocket: join(root, 'no-socket'),
    warn: (message) => warnings.push(message),
    ...options,
  });
}

const gpusOf = ({ devices }: HostInventory) => devices.filter(({ kind }) => kind === 'gpu');
const drivesOf = ({ devices }: HostInventory) => devices.filter(({ kind }) => kind === 'drive');
/** What a device has if it is only a PCI device. */
const PLAIN = {
  ...{ serial: '', model: '', firmware: '', sizeBytes: 0, uses: [], warnings: [] },
  ...{ health: {}, attributes: {} },
};

describe('GPUs', () => {
  it('come with their place, group, driver, reset, link and errors', async () => {
    await writeSysfsTree(root, TREE);
    expect(gpusOf(await read())[0]).toEqual({
      ...PLAIN,
      kind: 'gpu',
      address: GPU,
      vendorId: '10de',
      deviceId: '233b',
      subsystemVendorId: '10de',
      subsystemDeviceId: '18bf',
      numaNode: 1,
      iommuGroup: 17,
      iommuGroupOthers: [GPU_AUDIO],
      driver: 'vfio-pci',
      resetMethods: ['flr', 'bus'],
      link: { speedGts: 16, maxSpeedGts: 32, width: 8, maxWidth: 16 },
      aer: { correctable: 5, nonfatal: 1, fatal: 0 },
      bridges: [],
      functions: [GPU, GPU_AUDIO],
      bars: [
        { index: 0, sizeBytes: 16 * MIB, is_64bit: true, prefetchable: true },
        { index: 2, sizeBytes: 256 * GIB, is_64bit: true, prefetchable: true },
      ],
      name: '',
      lost: false,
    });
  });

  it('lack what the kernel does not know', async () => {
    await writeSysfsTree(root, TREE);
    expect(gpusOf(await read())[1]).toEqual({
      ...PLAIN,
      kind: 'gpu',
      address: OTHER_GPU,
      vendorId: '1002',
      deviceId: '74a1',
      subsystemVendorId: '',
      subsystemDeviceId: '',
      iommuGroupOthers: [],
      driver: '',
      resetMethods: [],
      bridges: [],
      functions: [OTHER_GPU],
      bars: [],
      name: '',
      lost: false,
    });
  });

  it('are physical display controllers of the named vendors and nothing else', async () => {
    await writeSysfsTree(root, TREE);
    const addresses = async (vendorIds: string[]) =>
      gpusOf(await read({ kinds: kindsWith({ gpu: { vendorIds } }) })).map(
        ({ address }) => address,
      );
    expect(await addresses(['10de', '1002'])).toEqual([GPU, OTHER_GPU]);
    expect(await addresses(['1a03'])).toEqual(['0000:03:00.0']);
  });
});

it('NVMe drives come with identity and size while the kernel drives them, without otherwise', async () => {
  await writeSysfsTree(root, TREE);
  expect(drivesOf(await read())).toMatchObject([
    {
      ...{ address: '0000:21:00.0', driver: 'nvme' },
      serial: 'S64GNE0R000001',
      model: 'SAMSUNG MZQL2960HCJR',
      firmware: 'GDC5602Q',
      sizeBytes: 960_197_128_192,
      attributes: { block_size: '4096' },
      ...{ uses: [], health: {} },
    },
    { ...PLAIN, address: '0000:22:00.0' },
  ]);
});

it('a host that is this machine says what it does with its drives and how worn they are', async () => {
  const health = {
    ...{ critical_warning: 0, percentage_used: 3, available_spare: 100 },
    ...{ spare_threshold: 10, media_errors: 0 },
  };
  await writeSysfsTree(root, { ...TREE, 'class/block/nvme0n1/dev': '259:0' });
  await writeSysfsTree(join(root, 'proc'), {
    'self/mountinfo': '36 35 259:0 / /data rw - ext4 /dev/nvme0n1 rw',
    cmdline: 'ro quiet iommu=pt',
  });
  const healthOf = async (controller: string) => (controller === 'nvme0' ? health : undefined);
  const inventory = await read({
    procRoot: join(root, 'proc'),
    kinds: kindsWith({ drive: { healthOf } }),
  });
  expect(drivesOf(inventory)).toMatchObject([
    { uses: ['mounted at /data'], health },
    { uses: [], health: {} },
  ]);
  expect(inventory.software.commandLine).toBe('ro quiet iommu=pt');
});

it('what a drive says it belongs to counts, unless a VM has it and may have written that', async () => {
  await writeSysfsTree(root, { ...TREE, 'class/block/nvme0n1/dev': '259:0' });
  const content = Buffer.alloc(4_096);
  content.write('LABELONE', 512);
  await writeSysfsTree(root, { 'proc/self/mountinfo': '', 'dev/nvme0n1': content });
  await writeSysfsTree(root, { 'dev/nvme0n2': Buffer.alloc(4_096) });
  const roots = { procRoot: join(root, 'proc'), devRoot: join(root, 'dev') };
  const usesOf = async (isAssigned: (address: string) => Promise<boolean>) =>
    drivesOf(await read({ ...roots, isAssigned })).map(({ uses }) => uses);
  expect(await usesOf(async () => false)).toEqual([['an LVM physical volume (nvme0n1)'], []]);
  expect(await usesOf(async (address) => address === '0000:21:00.0')).toEqual([[], []]);
});

it('a device is known by name, and by what the tool of its vendor says', async () => {
  await writeSysfsTree(root, TREE);
  const report = { warnings: ['too hot'], readings: { temperature_celsius: 91 } };
  const vendorReports = async () => new Map([[OTHER_GPU, report]]);
  const { devices } = await read({
    names: async (vendorId, deviceId) => `${vendorId} ${deviceId}`,
    kinds: kindsWith({ gpu: { vendorReports } }),
  });
  expect(devices.map(({ kind, name, warnings }) => [kind, name, warnings])).toEqual([
    ['gpu', '10de 233b', []],
    ['gpu', '1002 74a1', ['too hot']],
    ['drive', '144d a80a', []],
    ['drive', '144d a80a', []],
  ]);
});

it.each([
  ['whose config space is all ones', { config: Buffer.alloc(64, 0xff) }, true],
  ['whose config space answers', { config: Buffer.from([0xde, 0x10, 0x35, 0x23]) }, false],
  ['whose config space is not shown', {}, false],
])('a device %s is lost: %#', async (_, attributes, lost) => {
  await writeSysfsTree(root, {
    ...pciTree(OTHER_GPU, { class: '0x030200', vendor: '0x1002', device: '0x74a1', ...attributes }),
  });
  expect(gpusOf(await read()).map((gpu) => gpu.lost)).toEqual([lost]);
});

it('NUMA nodes come with CPUs, memory, hugepages and what they offer to VMs', async () => {
  await writeSysfsTree(root, TREE);
  expect((await read()).numaNodes).toEqual([
    {
      id: 0,
      cpus: '0-15,32-47',
      memoryBytes: 270_172_540_928,
      hugepages: [{ pageKib: 1_048_576, total: 200, free: 80 }],
      ...{ offeredCores: 31, offeredMemoryMib: 204_800 },
    },
    {
      ...{ id: 10, cpus: '', memoryBytes: 0, hugepages: [] },
      ...{ offeredCores: 0, offeredMemoryMib: 0 },
    },
  ]);
});

it('NUMA nodes come with their socket and the distances to all nodes, if the kernel shows them', async () => {
  await writeSysfsTree(root, {
    ...TREE,
    'devices/system/node/node0/distance': '10 32',
    'devices/system/node/node10/distance': '32 strange',
    'devices/system/cpu/cpu0/topology/physical_package_id': '1',
  });
  const [first, second] = (await read()).numaNodes;
  expect(first).toMatchObject({ id: 0, socket: 1, distances: [10, 32] });
  expect(second).not.toHaveProperty('socket');
  expect(second).not.toHaveProperty('distances');
});

it('an InfiniBand link is reported as such', async () => {
  await writeSysfsTree(root, { ...TREE, 'class/net/ens1/type': '32', 'class/net/bond0/type': '1' });
  const { nics } = await read();
  expect(nics.map(({ name, infiniband }) => [name, infiniband])).toEqual([
    ['bond0', false],
    ['ens1', true],
  ]);
});

it('network interfaces are the physical ones and bonds', async () => {
  await writeSysfsTree(root, TREE);
  const mac = 'b8:3f:d2:00:00:01';
  expect((await read()).nics).toEqual([
    { name: 'bond0', mac, pciAddress: '', mtu: 1_500, up: false, infiniband: false },
    {
      ...{ name: 'ens1', mac, pciAddress: '0000:81:00.0', speedMbps: 100_000, mtu: 9_000 },
      ...{ up: true, infiniband: false },
    },
  ]);
});

it('GPUs joined by a bridge name each other, and other GPUs name none', async () => {
  await writeSysfsTree(root, TREE);
  const attributes = async (...nvlinkPairs: NvlinkPair[]) =>
    gpusOf(await read({ kinds: kindsWith({ gpu: { nvlinkPairs } }) })).map((gpu) => gpu.attributes);
  expect(await attributes()).toEqual([{}, {}]);
  expect(await attributes([GPU, OTHER_GPU])).toEqual([
    { nvlink_bridge: OTHER_GPU },
    { nvlink_bridge: GPU },
  ]);
});

it('a device comes with the bridges above it', async () => {
  const path = 'devices/pci0000:60/0000:60:01.1/0000:61:00.0/0000:62:04.0/0000:63:00.0';
  await writeSysfsTree(root, {
    [`${path}/class`]: '0x030200',
    [`${path}/vendor`]: '0x10de',
    'bus/pci/devices/0000:63:00.0': { link: `../../../${path}` },
  });
  const bridges = ['0000:60:01.1', '0000:61:00.0', '0000:62:04.0'];
  expect(gpusOf(await read())).toMatchObject([{ address: '0000:63:00.0', bridges }]);
});

it('the memory of NUMA nodes adds up to the memory of the host, whatever the nodes say', async () => {
  await writeSysfsTree(root, {
    'devices/system/node/node0/cpulist': '0-15',
    'devices/system/node/node0/meminfo': 'Node 0 MemTotal:         4718592 kB',
  });
  const facts = { ...FACTS, memoryBytes: 135_000_000_000 };
  const { numaNodes } = await read({ facts });
  expect(numaNodes).toMatchObject([{ id: 0, memoryBytes: 135_000_000_000 }]);
  expect(warnings).toEqual([expect.stringContaining('NUMA')]);
});

it('a host that is given its facts shows nothing of the machine the agent runs on', async () => {
  const { cpu, memoryBytes, software } = await read();
  expect({ cpu, memoryBytes, software }).toEqual({
    cpu: FACTS.cpu,
    memoryBytes: FACTS.memoryBytes,
    software: {
      os: FACTS.os,
      kernel: FACTS.kernel,
      firmware: '',
      libvirt: FACTS.libvirt,
      agent: '0.1.0',
      commandLine: '',
      iommu: '',
      capabilities: [
        ...['spec_hashes', 'vm_refusals', 'needs', 'ssh_keys', 'user_data'],
        ...['agent_upgrades', 'rbd', 'guest_freezes', 'luks', 'cephfs', 'local_snapshots'],
        'image_transfers',
      ],
    },
  });
  expect(warnings).toEqual([]);
});

it('whether its disks can be reached from elsewhere is as the operator says', async () => {
  expect((await read()).sharedStorage).toBe(false);
  expect((await read({ sharedStorage: true })).sharedStorage).toBe(true);
});

describe('without facts from outside', () => {
  /** Of the machine the test runs on. */
  function readThisMachine(options: Partial<InventorySettings> = {}) {
    return readInventory({
      sysfsRoot: root,
      kinds: kindsWith({}),
      capacity: DEFAULT_CAPACITY,
      sharedStorage: false,
      libvirtSocket: join(root, 'no-socket'),
      warn: (message) => warnings.push(message),
      ...options,
    });
  }

  it('a host without any devices still has CPUs, memory and a kernel', async () => {
    const inventory = await readThisMachine();
    expect(inventory).toMatchObject({ numaNodes: [], devices: [], nics: [] });
    expect(inventory.cpu.threads).toBeGreaterThan(0);
    expect(inventory.memoryBytes).toBeGreaterThan(0);
    expect(inventory.software.kernel).not.toBe('');
  });

  it('the libvirt version is empty where there is no socket, and the reason is told', async () => {
    expect((await readThisMachine()).software.libvirt).toBe('');
    expect(warnings).toEqual([expect.stringContaining('ENOENT')]);
  });

  it('the libvirt version is empty where libvirt hangs up', async () => {
    const libvirtSocket = join(root, 'sock');
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(libvirtSocket, resolve));
    expect((await readThisMachine({ libvirtSocket })).software.libvirt).toBe('');
    expect(warnings).toHaveLength(1);
    server.close();
  });
});

it('an inventory crosses the wire whole', async () => {
  await writeSysfsTree(root, TREE);
  const inventory: HostInventory & Inventory = await read({
    kinds: kindsWith({ gpu: { nvlinkPairs: [[GPU, OTHER_GPU]] } }),
    sharedStorage: true,
  });
  const { requestSerialize, requestDeserialize } = loadFleet().service.Attach;
  const received = requestDeserialize(requestSerialize({ inventory })).inventory;
  const [gpu, otherGpu, drive] = received?.devices ?? [];
  expect(drive).toMatchObject({
    ...{ kind: 'drive', sizeBytes: '960197128192', attributes: { block_size: '4096' } },
  });
  expect(gpu).toMatchObject({ kind: 'gpu', numaNode: 1, iommuGroup: 17, link: { width: 8 } });
  expect(otherGpu?.numaNode).toBeUndefined();
  expect(gpu?.attributes).toEqual({ nvlink_bridge: OTHER_GPU });
  expect(gpu?.functions).toEqual([GPU, GPU_AUDIO]);
  expect(gpu?.bars[1]).toMatchObject({
    ...{ sizeBytes: String(256 * GIB), is_64bit: true, prefetchable: true },
  });
  expect(received?.software?.iommu).toBe('translated');
  expect(received?.numaNodes).toMatchObject([
    { id: 0, offeredCores: 31, offeredMemoryMib: 200 * 1_024 },
    { id: 10, offeredCores: 0, offeredMemoryMib: 0 },
  ]);
  expect(received?.sharedStorage).toBe(true);
  expect(received?.software).toEqual({ ...inventory.software, upgrade: null });
});
