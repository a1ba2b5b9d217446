import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { PciDevice__Output } from '@gantry/proto/generated/gantry/v1/PciDevice';

/** Whole inventories, as they arrive, from what a test cares about. */
export function makeInventory(inventory: Partial<Inventory__Output> = {}): Inventory__Output {
  return {
    cpu: { model: '', architecture: 'x64', sockets: 1, cores: 8, threads: 8 },
    numaNodes: [],
    memoryBytes: String(64 * 1024 ** 3),
    gpus: [],
    nvmes: [],
    nics: [],
    software: { os: '', kernel: '6.1', firmware: '', libvirt: '', agent: '0.1.0' },
    sharedStorage: false,
    ...inventory,
  };
}

export function makePci(
  address: string,
  device: Partial<PciDevice__Output> = {},
): PciDevice__Output {
  return {
    ...{ address, vendorId: '10de', deviceId: '2235', subsystemVendorId: '' },
    ...{ subsystemDeviceId: '', iommuGroupOthers: [], driver: 'vfio-pci', resetMethods: ['flr'] },
    ...{ link: null, aer: null, bridges: [] },
    ...device,
  };
}
