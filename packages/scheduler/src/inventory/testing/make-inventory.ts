import type { Device__Output } from '@gantry/proto/generated/gantry/v1/Device';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { Software__Output } from '@gantry/proto/generated/gantry/v1/Software';

/** Builds a complete inventory from the values that a test needs. */
export function makeInventory(inventory: Partial<Inventory__Output> = {}): Inventory__Output {
  return {
    cpu: { model: '', architecture: 'x64', sockets: 1, cores: 8, threads: 8 },
    numaNodes: [],
    memoryBytes: String(64 * 1024 ** 3),
    devices: [],
    nics: [],
    software: makeSoftware(),
    sharedStorage: false,
    enforcesBandwidth: false,
    lacksNesting: false,
    underlayIpv4: '',
    storageIpv4: '',
    storagePools: [],
    ...inventory,
  };
}

export function makeGpu(address: string, device: Partial<Device__Output> = {}): Device__Output {
  return {
    kind: 'gpu',
    address,
    vendorId: '10de',
    deviceId: '2235',
    subsystemVendorId: '',
    subsystemDeviceId: '',
    iommuGroupOthers: [],
    driver: 'vfio-pci',
    resetMethods: ['flr'],
    link: null,
    aer: null,
    bridges: [],
    functions: [address],
    bars: [],
    name: '',
    lost: false,
    serial: '',
    model: '',
    firmware: '',
    sizeBytes: '0',
    uses: [],
    warnings: [],
    health: {},
    attributes: {},
    ...device,
  };
}

export function makeSoftware(software: Partial<Software__Output> = {}): Software__Output {
  return {
    os: '',
    kernel: '6.1',
    firmware: '',
    libvirt: '',
    agent: '0.1.0',
    upgrade: null,
    commandLine: '',
    iommu: '',
    capabilities: [],
    ...software,
  };
}

export function makeDrive(address: string, device: Partial<Device__Output> = {}): Device__Output {
  return makeGpu(address, { kind: 'drive', ...device });
}
