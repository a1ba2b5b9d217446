import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import { loadFleet } from '@gantry/proto/load';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree, writeSysfsTree } from './host/sysfs-tree.ts';
import { type HostInventory, readInventory } from './inventory.ts';

const GPU = '0000:41:00.0';
const GPU_AUDIO = '0000:41:00.1';

/** An H200's attributes as its kernel shows them. */
const H200: SysfsTree = {
  class: '0x030200',
  vendor: '0x10de',
  device: '0x2335',
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
  driver: { link: '../../../bus/pci/drivers/vfio-pci' },
  iommu_group: { link: '../../../../kernel/iommu_groups/17' },
};

const TREE: SysfsTree = {
  ...pciTree(GPU, H200),
  [`kernel/iommu_groups/17/devices/${GPU}`]: '',
  [`kernel/iommu_groups/17/devices/${GPU_AUDIO}`]: '',
  ...pciTree(GPU_AUDIO, { class: '0x040300', vendor: '0x10de', device: '0x22a3' }),
  // A card without NUMA node, IOMMU group, driver, reset or link.
  ...pciTree('0000:c1:00.0', {
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
    device: '0x2335',
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

function read(options: { gpuVendorIds?: string[]; libvirtSocket?: string } = {}) {
  return readInventory({
    sysfsRoot: root,
    gpuVendorIds: ['10de', '1002'],
    libvirtSocket: join(root, 'no-socket'),
    warn: (message) => warnings.push(message),
    ...options,
  });
}

describe('GPUs', () => {
  it('come with their place, group, driver, reset, link and errors', async () => {
    await writeSysfsTree(root, TREE);
    expect((await read()).gpus[0]?.pci).toEqual({
      address: GPU,
      vendorId: '10de',
      deviceId: '2335',
      subsystemVendorId: '10de',
      subsystemDeviceId: '18bf',
      numaNode: 1,
      iommuGroup: 17,
      iommuGroupOthers: [GPU_AUDIO],
      driver: 'vfio-pci',
      resetMethods: ['flr', 'bus'],
      link: { speedGts: 16, maxSpeedGts: 32, width: 8, maxWidth: 16 },
      aer: { correctable: 5, nonfatal: 1, fatal: 0 },
    });
  });

  it('lack what the kernel does not know', async () => {
    await writeSysfsTree(root, TREE);
    expect((await read()).gpus[1]?.pci).toEqual({
      address: '0000:c1:00.0',
      vendorId: '1002',
      deviceId: '74a1',
      subsystemVendorId: '',
      subsystemDeviceId: '',
      iommuGroupOthers: [],
      driver: '',
      resetMethods: [],
    });
  });

  it('are physical display controllers of the named vendors and nothing else', async () => {
    await writeSysfsTree(root, TREE);
    const addresses = async (gpuVendorIds: string[]) =>
      (await read({ gpuVendorIds })).gpus.map((gpu) => gpu.pci.address);
    expect(await addresses(['10de', '1002'])).toEqual([GPU, '0000:c1:00.0']);
    expect(await addresses(['1a03'])).toEqual(['0000:03:00.0']);
  });
});

it('NVMe drives come with identity and size while the kernel drives them, without otherwise', async () => {
  await writeSysfsTree(root, TREE);
  const { nvmes } = await read();
  expect(nvmes).toMatchObject([
    {
      pci: { address: '0000:21:00.0', driver: 'nvme' },
      serial: 'S64GNE0R000001',
      model: 'SAMSUNG MZQL2960HCJR',
      firmware: 'GDC5602Q',
      sizeBytes: 960_197_128_192,
    },
    { pci: { address: '0000:22:00.0' }, serial: '', model: '', firmware: '', sizeBytes: 0 },
  ]);
});

it('NUMA nodes come with CPUs, memory and hugepages', async () => {
  await writeSysfsTree(root, TREE);
  expect((await read()).numaNodes).toEqual([
    {
      id: 0,
      cpus: '0-15,32-47',
      memoryBytes: 270_172_540_928,
      hugepages: [{ pageKib: 1_048_576, total: 200, free: 80 }],
    },
    { id: 10, cpus: '', memoryBytes: 0, hugepages: [] },
  ]);
});

it('network interfaces are the physical ones and bonds', async () => {
  await writeSysfsTree(root, TREE);
  const mac = 'b8:3f:d2:00:00:01';
  expect((await read()).nics).toEqual([
    { name: 'bond0', mac, pciAddress: '', mtu: 1_500, up: false },
    { name: 'ens1', mac, pciAddress: '0000:81:00.0', speedMbps: 100_000, mtu: 9_000, up: true },
  ]);
});

it('a host without any of it still has CPUs, memory and a kernel', async () => {
  const inventory = await read();
  expect(inventory).toMatchObject({ numaNodes: [], gpus: [], nvmes: [], nics: [] });
  expect(inventory.cpu.threads).toBeGreaterThan(0);
  expect(inventory.memoryBytes).toBeGreaterThan(0);
  expect(inventory.software.kernel).not.toBe('');
});

describe('the libvirt version', () => {
  it('is empty where there is no socket, and the reason is told', async () => {
    expect((await read()).software.libvirt).toBe('');
    expect(warnings).toEqual([expect.stringContaining('ENOENT')]);
  });

  it('is empty where libvirt hangs up', async () => {
    const libvirtSocket = join(root, 'sock');
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(libvirtSocket, resolve));
    expect((await read({ libvirtSocket })).software.libvirt).toBe('');
    expect(warnings).toHaveLength(1);
    server.close();
  });
});

it('an inventory crosses the wire whole', async () => {
  await writeSysfsTree(root, TREE);
  const inventory: HostInventory & Inventory = await read();
  const { requestSerialize, requestDeserialize } = loadFleet().service.Attach;
  const received = requestDeserialize(requestSerialize({ inventory })).inventory;
  expect(received?.nvmes[0]?.sizeBytes).toBe('960197128192');
  expect(received?.gpus[0]?.pci).toMatchObject({ numaNode: 1, iommuGroup: 17, link: { width: 8 } });
  expect(received?.gpus[1]?.pci?.numaNode).toBeUndefined();
  expect(received?.software).toEqual(inventory.software);
});
