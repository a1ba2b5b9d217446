import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostFacts } from '@gantry/agent/inventory/host-facts';
import { type HostInventory, readInventory } from '@gantry/agent/inventory/inventory';
import { nvlinkPairsOf } from './pci-layout.ts';
import { NODES, type ServerModel, THREADS_PER_CORE } from './server-model.ts';
import { nodeMemoryKib, writeServerTree } from './server-tree.ts';

const inventories = new WeakMap<ServerModel, Promise<HostInventory>>();

/**
 * What an agent on such a server reports, read by the agent's own reader from a tree of files. Read
 * once for each model and shared by all who ask, so it is frozen.
 */
export function simulatedInventory(model: ServerModel): Promise<HostInventory> {
  const known = inventories.get(model);
  if (known) return known;
  const reading = readServer(model);
  inventories.set(model, reading);
  // A full disk now is no reason to fail for ever.
  reading.catch(() => inventories.delete(model));
  return reading;
}

/** The same server as one of many: its drives and network cards have their own identities. */
export function inventoryOfHost(inventory: HostInventory, hostName: string): HostInventory {
  const hash = createHash('sha256').update(hostName).digest('hex');
  const serialStart = `S64G${hash.slice(0, 12).toUpperCase()}`;
  // Locally administered, so that none is a real card's.
  const macStart = ['02', ...(hash.slice(12, 20).match(/../g) ?? [])].join(':');
  return {
    ...inventory,
    nvmes: inventory.nvmes.map((drive, i) => ({ ...drive, serial: serialStart + twoDigits(i) })),
    nics: inventory.nics.map((nic, i) => ({ ...nic, mac: `${macStart}:${twoDigits(i)}` })),
  };
}

/** What sysfs does not say of such a server. */
function factsOf(model: ServerModel): HostFacts {
  const cores = model.coresPerNode * NODES.length;
  return {
    cpu: {
      model: model.cpuModel,
      architecture: 'x64',
      sockets: NODES.length,
      cores,
      threads: cores * THREADS_PER_CORE,
    },
    memoryBytes: nodeMemoryKib(model) * 1_024 * NODES.length,
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
      gpuVendorIds: [model.gpu.vendorId],
      nvlinkPairs: nvlinkPairsOf(model),
      sharedStorage: false,
      facts: factsOf(model),
      libvirtSocket: '',
      // The tree is ours: whatever it lacks is a mistake in it.
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
