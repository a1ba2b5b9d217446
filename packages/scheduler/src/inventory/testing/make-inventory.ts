import type { Gpu__Output } from '@gantry/proto/generated/gantry/v1/Gpu';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { NvmeDrive__Output } from '@gantry/proto/generated/gantry/v1/NvmeDrive';
import type { PciDevice__Output } from '@gantry/proto/generated/gantry/v1/PciDevice';
import type { Software__Output } from '@gantry/proto/generated/gantry/v1/Software';

/** Builds a complete inventory from the values that a test needs. */
export function makeInventory(inventory: Partial<Inventory__Output> = {}): Inventory__Output {
  return {
    cpu: { model: '', architecture: 'x64', sockets: 1, cores: 8, threads: 8 },
    numaNodes: [],
    memoryBytes: String(64 * 1024 ** 3),
    gpus: [],
    nvmes: [],
    nics: [],
    software: makeSoftware(),
    sharedStorage: false,
    underlayIpv4: '',
    ...inventory,
  };
}

export function makePci(
  address: string,
  device: Partial<PciDevice__Output> = {},
): PciDevice__Output {
  return {
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
    commandLine: '',
    iommu: '',
    ...software,
  };
}

export function makeGpu(
  address: string,
  pci: Partial<PciDevice__Output> = {},
  gpu: Partial<Gpu__Output> = {},
): Gpu__Output {
  return { pci: makePci(address, pci), nvlinkPeer: '', vendorWarnings: [], ...gpu };
}

export function makeDrive(
  address: string,
  drive: Partial<NvmeDrive__Output> = {},
): NvmeDrive__Output {
  return {
    pci: makePci(address),
    serial: '',
    model: '',
    firmware: '',
    sizeBytes: '0',
    uses: [],
    blockSize: 0,
    health: null,
    ...drive,
  };
}
