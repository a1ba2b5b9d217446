import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_CAPACITY } from '@gantry/agent/capacity/capacity-settings';
import { createKinds } from '@gantry/agent/devices/kinds/kinds';
import type { HostFacts } from '@gantry/agent/inventory/host-facts';
import { type HostInventory, readInventory } from '@gantry/agent/inventory/inventory';
import { nvlinkPairsOf } from './pci-layout.ts';
import { type ServerModel, THREADS_PER_CORE } from './server-model.ts';
import { nodeMemoryKib, writeServerTree } from './server-tree.ts';

const inventories = new WeakMap<ServerModel, Promise<HostInventory>>();

/**
 * The inventory that an agent on such a server reports. The agent's own code reads it from a tree
 * of files, once for each model. All hosts of a model share it, so it is frozen.
 */
export function simulatedInventory(model: ServerModel): Promise<HostInventory> {
  const known = inventories.get(model);
  if (known) return known;
  const reading = readServer(model);
  inventories.set(model, reading);
  // The next call tries again, because the cause (such as a full disk) may be gone.
  reading.catch(() => inventories.delete(model));
  return reading;
}

/** One server of a model: its drives and network cards have unique identities. */
export function inventoryOfHost(inventory: HostInventory, hostName: string): HostInventory {
  const hash = createHash('sha256').update(hostName).digest('hex');
  const serialStart = `S64G${hash.slice(0, 12).toUpperCase()}`;
  // Locally administered addresses, which no real card has.
  const macStart = ['02', ...(hash.slice(12, 20).match(/../g) ?? [])].join(':');
  return {
    ...inventory,
    devices: withSerials(inventory.devices, serialStart),
    nics: inventory.nics.map((nic, i) => ({ ...nic, mac: `${macStart}:${twoDigits(i)}` })),
  };
}

/** The devices that have a serial number get one of their own. */
function withSerials(devices: HostInventory['devices'], serialStart: string) {
  let count = 0;
  return devices.map((device) => {
    if (device.serial === '') return device;
    count += 1;
    return { ...device, serial: serialStart + twoDigits(count - 1) };
  });
}

/** Facts about such a server that are not in sysfs. */
function factsOf(model: ServerModel): HostFacts {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const cores = sum(model.nodes.map((node) => node.cores));
  return {
    cpu: {
      model: model.cpuModel,
      architecture: 'x64',
      sockets: new Set(model.nodes.map(({ socket }) => socket)).size,
      cores,
      threads: cores * THREADS_PER_CORE,
    },
    memoryBytes: sum(model.nodes.map(nodeMemoryKib)) * 1_024,
    os: 'Ubuntu 24.04',
    kernel: '6.8.0-48-generic',
    libvirt: '10.0.0',
  };
}

async function readServer(model: ServerModel): Promise<HostInventory> {
  const sysfsRoot = await mkdtemp(join(tmpdir(), 'gantry-server-'));
  try {
    await writeServerTree(sysfsRoot, model);
    const inventory = await readInventory({
      sysfsRoot,
      kinds: createKinds({
        gpu: { vendorIds: [model.gpu.vendorId], nvlinkPairs: nvlinkPairsOf(model) },
      }),
      capacity: DEFAULT_CAPACITY,
      sharedStorage: false,
      facts: factsOf(model),
      libvirtSocket: '',
      // This package writes the tree, so a missing file is a bug.
      warn: (message) => {
        throw new Error(`BUG: server model ${model.name}: ${message}`);
      },
    });
    return deepFreeze(inventory);
  } finally {
    await rm(sysfsRoot, { recursive: true });
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

function twoDigits(index: number): string {
  return index.toString().padStart(2, '0');
}
