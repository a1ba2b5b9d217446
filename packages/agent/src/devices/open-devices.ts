import type { Log } from '@gantry/daemon/log';
import { Sysfs } from '../base/sysfs.ts';
import type { Devices } from '../host-driver.ts';
import { type CardPlaces, NO_PLACES, readCardPlaces } from './card-places.ts';
import { claimIdleCards } from './kinds/gpu/claim-idle-cards.ts';
import { readGpuDevices } from './kinds/gpu/read-gpus.ts';
import { readNvmeDrives } from './kinds/nvme/read-drives.ts';
import { pciControl } from './pci/pci-control.ts';
import { standInDevices } from './stand-in-devices.ts';
import { vfioDevices } from './vfio-devices.ts';

export type DeviceSettings = {
  sysfsRoot: string;
  gpuVendorIds: readonly string[];
  dataDirectory: string;
  /** Assigns devices only in the device book, for machines without real ones. */
  standIns: boolean;
  /** Gives guests the block devices of drives instead of the drives. */
  drivesAsBlocks: boolean;
};

/** The devices of a host, and what the definition of a domain needs to know about them. */
export type HostDevices = {
  devices: Devices;
  placesOf(addresses: readonly string[]): Promise<CardPlaces>;
  lockMemory: boolean;
};

const DEV_ROOT = '/dev';
const TENANT_DRIVES_FILE = '/etc/udev/rules.d/10-gantry-tenant-drives.rules';

export async function openDevices(settings: DeviceSettings, log: Log): Promise<HostDevices> {
  const sysfs = new Sysfs(settings.sysfsRoot);
  const gpus = await readGpuDevices(sysfs, settings.gpuVendorIds);
  const addresses = gpus.map(({ address }) => address);
  if (settings.standIns) return await openStandIns(settings, { sysfs, addresses });

  const control = pciControl(settings.sysfsRoot);
  // Until this succeeds, such a card is reported without an IOMMU group and is not assigned to VMs.
  await claimIdleCards({ sysfs, control }, addresses).catch((error: unknown) =>
    log.warn({ error }, 'a graphics card without a driver could not be prepared'),
  );
  return {
    devices: vfioDevices({
      ...{ sysfs, control, procRoot: '/proc', devRoot: DEV_ROOT },
      directory: settings.dataDirectory,
      tenantDrivesFile: TENANT_DRIVES_FILE,
      drivesAsBlocks: settings.drivesAsBlocks,
    }),
    placesOf: (wanted) => readCardPlaces({ sysfs, devRoot: DEV_ROOT }, wanted),
    lockMemory: true,
  };
}

async function openStandIns(
  { dataDirectory: directory }: DeviceSettings,
  { sysfs, addresses }: { sysfs: Sysfs; addresses: readonly string[] },
): Promise<HostDevices> {
  const drives = await readNvmeDrives(sysfs);
  const serials = new Map([
    ...addresses.map((address) => [address, ''] as const),
    ...drives.map(({ pci, serial }) => [pci.address, serial] as const),
  ]);
  return {
    devices: standInDevices({ directory, serials }),
    placesOf: async () => NO_PLACES,
    lockMemory: false,
  };
}
