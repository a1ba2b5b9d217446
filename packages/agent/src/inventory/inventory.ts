import { AGENT_CAPABILITIES } from '@gantry/model/agent-capabilities';
import { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from '../capacity/capacity-settings.ts';
import type { InventoryDevice } from '../devices/kinds/kind-driver.ts';
import { type DeviceOptions, readDevices } from '../devices/read-devices.ts';
import type { StoragePool } from '../volumes/storage-pools.ts';
import { type HostFacts, readHostFacts } from './host-facts.ts';
import { readIommuMode } from './iommu-mode.ts';
import { type Nic, readNics } from './nics.ts';
import { type NumaNode, readNumaNodes } from './numa-nodes.ts';
import { type Offer, offerNodes } from './offer-nodes.ts';
import { spreadMemory } from './spread-memory.ts';
import { AGENT_VERSION } from './version.ts';

/**
 * What this host consists of, in the shape of the wire's Inventory; its proto explains the fields.
 */
export type HostInventory = {
  cpu: HostFacts['cpu'];
  numaNodes: (NumaNode & Offer)[];
  memoryBytes: number;
  devices: InventoryDevice[];
  nics: Nic[];
  software: {
    os: string;
    kernel: string;
    firmware: string;
    libvirt: string;
    agent: string;
    commandLine: string;
    iommu: string;
    capabilities: string[];
  };
  sharedStorage: boolean;
  enforcesBandwidth: boolean;
  storagePools: StoragePool[];
  lacksNesting: boolean;
};

export type InventorySettings = DeviceOptions & {
  capacity: CapacitySettings;
  /** Whether every host of the location can reach the disks that this one stores. */
  sharedStorage: boolean;
  /** Whether VMs are placed here only while the links have the bandwidth of their types. Absent: no. */
  enforcesBandwidth?: boolean;
  libvirtSocket: string;
  /** Whether guests can run VMs. Absent: they can. */
  offersNesting?: () => Promise<boolean>;
  /** Absent: the host does not report its storage. */
  readStoragePools?: () => Promise<StoragePool[]>;
  /** Facts that sysfs does not contain. Absent: those of this machine. */
  facts?: HostFacts;
};

export async function readInventory(options: InventorySettings): Promise<HostInventory> {
  const { sharedStorage, enforcesBandwidth = false, procRoot, warn } = options;
  const sysfs = new Sysfs(options.sysfsRoot);
  const facts = options.facts ?? (await readHostFacts(options));
  const numaNodes = spreadMemory(await readNumaNodes(sysfs), facts.memoryBytes, warn);
  return {
    cpu: facts.cpu,
    numaNodes: await offerNodes(sysfs, numaNodes, options.capacity),
    memoryBytes: facts.memoryBytes,
    devices: await readDevices(options),
    nics: await readNics(sysfs),
    software: {
      os: facts.os,
      kernel: facts.kernel,
      firmware: (await sysfs.text('class/dmi/id/bios_version')) ?? '',
      libvirt: facts.libvirt,
      agent: AGENT_VERSION,
      commandLine: procRoot ? ((await new Sysfs(procRoot).text('cmdline')) ?? '') : '',
      iommu: await readIommuMode(sysfs),
      capabilities: [...AGENT_CAPABILITIES],
    },
    sharedStorage,
    enforcesBandwidth,
    storagePools: (await options.readStoragePools?.()) ?? [],
    lacksNesting: (await options.offersNesting?.()) === false,
  };
}
