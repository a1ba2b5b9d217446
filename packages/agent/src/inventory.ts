import { type HostFacts, readHostFacts } from './host/host-facts.ts';
import { type Nic, readNics } from './host/nics.ts';
import { type NumaNode, readNumaNodes } from './host/numa-nodes.ts';
import { joinPairs, type NvlinkPair } from './host/nvlink-pairs.ts';
import { type Gpu, type NvmeDrive, readGpuDevices, readNvmeDrives } from './host/pci-devices.ts';
import { spreadMemory } from './host/spread-memory.ts';
import { Sysfs } from './host/sysfs.ts';
import { AGENT_VERSION } from './version.ts';

/** What this host is made of, in the shape of the wire's Inventory; the meanings are in its proto. */
export type HostInventory = {
  cpu: HostFacts['cpu'];
  numaNodes: NumaNode[];
  memoryBytes: number;
  gpus: Gpu[];
  nvmes: NvmeDrive[];
  nics: Nic[];
  software: { os: string; kernel: string; firmware: string; libvirt: string; agent: string };
  sharedStorage: boolean;
};

export type InventoryOptions = {
  sysfsRoot: string;
  /** Vendors whose display controllers are GPUs to give away: four hex digits each. */
  gpuVendorIds: readonly string[];
  nvlinkPairs: readonly NvlinkPair[];
  /** Whether every host of the location reaches the disks this one keeps. */
  sharedStorage: boolean;
  libvirtSocket: string;
  /** What sysfs does not say. Absent: that of the machine this process runs on. */
  facts?: HostFacts;
  /** Told what could not be found out; the inventory goes on without it. */
  warn: (message: string) => void;
};

export async function readInventory(options: InventoryOptions): Promise<HostInventory> {
  const { gpuVendorIds, nvlinkPairs, sharedStorage, warn } = options;
  const sysfs = new Sysfs(options.sysfsRoot);
  const facts = options.facts ?? (await readHostFacts(options));
  const gpuDevices = await readGpuDevices(sysfs, gpuVendorIds);
  return {
    cpu: facts.cpu,
    numaNodes: spreadMemory(await readNumaNodes(sysfs), facts.memoryBytes, warn),
    memoryBytes: facts.memoryBytes,
    gpus: joinPairs(gpuDevices, nvlinkPairs, warn),
    nvmes: await readNvmeDrives(sysfs),
    nics: await readNics(sysfs),
    software: {
      os: facts.os,
      kernel: facts.kernel,
      firmware: (await sysfs.text('class/dmi/id/bios_version')) ?? '',
      libvirt: facts.libvirt,
      agent: AGENT_VERSION,
    },
    sharedStorage,
  };
}
