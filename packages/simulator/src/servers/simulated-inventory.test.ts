import type { HostInventory } from '@gantry/agent/inventory/inventory';
import { gpuModelOf } from '@gantry/model/gpu-models';
import { CATALOGUE } from '@gantry/model/vm-types';
import { describe, expect, it } from 'vitest';
import { PUBLISHED_SERVERS } from './published-servers.ts';
import type { ServerModel } from './server-model.ts';
import { SERVER_MODELS } from './server-models.ts';
import { inventoryOfHost, simulatedInventory } from './simulated-inventory.ts';

const count = (values: readonly unknown[]) => {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()];
};

function modelNamed(name: string): ServerModel {
  const model = SERVER_MODELS.find((one) => one.name === name);
  if (!model) throw new Error(`no server model ${name}`);
  return model;
}

const gpusOf = ({ devices }: HostInventory) => devices.filter(({ kind }) => kind === 'gpu');
const drivesOf = ({ devices }: HostInventory) => devices.filter(({ kind }) => kind === 'drive');

const gpuModels = (inventory: HostInventory) =>
  gpusOf(inventory).map(({ vendorId, deviceId }) => gpuModelOf(vendorId, deviceId));

/** Devices below one switch share all bridges except the last. */
const switchesOf = (inventory: HostInventory) =>
  gpusOf(inventory).map(({ bridges }) => bridges.slice(0, -1).join());

describe('the server models', () => {
  it.each([
    ['a40-8', { gpu: 'A40 48GB PCIe', switches: [2, 2, 2, 2], drives: 8, audio: true }],
    ['a100-40gb-8', { gpu: 'A100 40GB PCIe', switches: [4, 4], drives: 8, audio: false }],
    ['a100-80gb-8', { gpu: 'A100 80GB PCIe', switches: [2, 2, 2, 2], drives: 8, audio: false }],
    ['l40s-8', { gpu: 'L40S 48GB PCIe', switches: [4, 4], drives: 0, audio: false }],
    ['l40s-10', { gpu: 'L40S 48GB PCIe', switches: [3, 2, 3, 2], drives: 0, audio: false }],
  ])('%s has the cards, switches and drives of such a server', async (name, expected) => {
    const inventory = await simulatedInventory(modelNamed(name));
    expect(new Set(gpuModels(inventory))).toEqual(new Set([expected.gpu]));
    expect(count(switchesOf(inventory))).toEqual(expected.switches);
    expect(drivesOf(inventory)).toHaveLength(expected.drives);
    const [gpu] = gpusOf(inventory);
    expect(gpu?.iommuGroupOthers).toEqual(expected.audio ? [gpu?.address.replace(/0$/, '1')] : []);
  });

  it('contain exactly the GPUs of the catalogue', async () => {
    const offered = await Promise.all(SERVER_MODELS.map(simulatedInventory));
    expect(new Set(offered.flatMap(gpuModels))).toEqual(
      new Set(CATALOGUE.map(({ gpuType }) => gpuType)),
    );
  });
});

describe.each(SERVER_MODELS.map((model) => [model.name, model] as const))('on %s', (_, model) => {
  it('have each GPU alone in its IOMMU group, ready for passthrough', async () => {
    const gpus = gpusOf(await simulatedInventory(model));
    expect(new Set(gpus.map(({ iommuGroup }) => iommuGroup)).size).toBe(gpus.length);
    for (const gpu of gpus) {
      expect(gpu).toMatchObject({
        driver: 'vfio-pci',
        resetMethods: ['flr', 'bus'],
        link: { speedGts: 16, maxSpeedGts: 16, width: 16, maxWidth: 16 },
        aer: { correctable: 0, nonfatal: 0, fatal: 0 },
      });
      expect(gpu.bridges).toHaveLength(3);
    }
  });

  it('have the same GPUs, drives, cores, memory and network on both NUMA nodes', async () => {
    const inventory = await simulatedInventory(model);
    const { nics, numaNodes, cpu, memoryBytes } = inventory;
    for (const devices of [gpusOf(inventory), drivesOf(inventory)]) {
      const first = devices.filter(({ numaNode }) => numaNode === 0);
      expect(first).toHaveLength(devices.length / 2);
    }
    expect(nics.map(({ speedMbps, up }) => ({ speedMbps, up }))).toEqual([
      { speedMbps: 200_000, up: true },
      { speedMbps: 200_000, up: true },
    ]);
    for (const { pciAddress } of nics) expect(pciAddress).toMatch(/^0000:[08]1:00\.0$/);
    expect(numaNodes.map(({ memoryBytes }) => memoryBytes)).toEqual([
      memoryBytes / 2,
      memoryBytes / 2,
    ]);
    expect(cpu.threads).toBe(2 * cpu.cores);
    // The host keeps one core of each node, and offers the memory that is reserved as pages.
    expect(numaNodes.map(({ offeredCores }) => offeredCores)).toEqual(
      numaNodes.map(() => cpu.cores - 2),
    );
    for (const { offeredMemoryMib, hugepages } of numaNodes) {
      const [, ofOneGib] = hugepages;
      expect(offeredMemoryMib).toBe((ofOneGib?.total ?? 0) * 1_024);
      expect(offeredMemoryMib).toBeGreaterThan(0);
    }
    const last = numaNodes.at(-1)?.cpus.split('-').at(-1);
    expect(Number(last)).toBe(cpu.threads - 1);
  });

  it('show nothing of the machine that simulates them', async () => {
    const { cpu, software } = await simulatedInventory(model);
    expect(cpu).toMatchObject({ model: model.cpuModel, architecture: 'x64', sockets: 2 });
    expect(software).toEqual({
      os: 'Ubuntu 24.04',
      kernel: '6.8.0-48-generic',
      firmware: model.firmware,
      libvirt: '10.0.0',
      agent: '0.1.0',
      commandLine: '',
      iommu: '',
      capabilities: [
        ...['spec_hashes', 'vm_refusals', 'needs', 'ssh_keys', 'user_data'],
        ...['agent_upgrades', 'rbd', 'guest_freezes', 'luks', 'cephfs', 'local_snapshots'],
        'image_transfers',
      ],
    });
  });

  it('have only drives larger than the 960 GB that VM types need', async () => {
    for (const drive of drivesOf(await simulatedInventory(model))) {
      expect(drive).toMatchObject({
        model: expect.stringContaining('SAMSUNG'),
        firmware: 'GDC5602Q',
      });
      expect(drive.sizeBytes).toBeGreaterThanOrEqual(960_000_000_000);
      expect(drive.driver).toBe('nvme');
    }
  });
});

describe('ten thousand simulated hosts', () => {
  const model = modelNamed('a40-8');

  it('read each model only once', () => {
    expect(simulatedInventory(model)).toBe(simulatedInventory(model));
  });

  it('have unique drives and network cards, which stay the same after a restart', async () => {
    const shared = await simulatedInventory(model);
    const hosts = Array.from({ length: 10_000 }, (_, i) => inventoryOfHost(shared, `host-${i}`));
    const serials = hosts.flatMap((host) => drivesOf(host).map(({ serial }) => serial));
    const macs = hosts.flatMap(({ nics }) => nics.map(({ mac }) => mac));
    expect(new Set(serials).size).toBe(80_000);
    expect(new Set(macs).size).toBe(20_000);
    expect(inventoryOfHost(shared, 'host-7')).toEqual(hosts[7]);
    expect(macs[0]).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    // The maximum length in NVMe.
    expect(Math.max(...serials.map((serial) => serial.length))).toBeLessThanOrEqual(20);
  });

  it('cannot change the inventory that they share', async () => {
    const shared = await simulatedInventory(model);
    const [gpu] = inventoryOfHost(shared, 'host-1').devices;
    expect(() => gpu?.functions.pop()).toThrow(TypeError);
    expect(() => shared.devices.pop()).toThrow(TypeError);
    expect(gpusOf(shared)).toHaveLength(8);
  });
});

it.each([...SERVER_MODELS, ...PUBLISHED_SERVERS])(
  '$name has NVLink bridges only between two GPUs behind one switch',
  async (model) => {
    const gpus = gpusOf(await simulatedInventory(model));
    for (const { address, bridges, attributes } of gpus) {
      const peer = gpus.find((other) => other.address === attributes['nvlink_bridge']);
      expect(peer !== undefined).toBe(model.nvlinkBridged);
      if (!peer) continue;
      expect(peer.attributes).toEqual({ nvlink_bridge: address });
      expect(peer.bridges.slice(0, -1)).toEqual(bridges.slice(0, -1));
    }
  },
);
