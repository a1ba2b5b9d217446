import type { Log } from '@gantry/daemon/log';
import { Sysfs } from '../base/sysfs.ts';
import type { Devices } from '../host-driver.ts';
import type { DeviceRef } from '../spec.ts';
import { type CardPlaces, NO_PLACES, readCardPlaces } from './card-places.ts';
import type { InventoryDevice, KindDriver } from './kinds/kind-driver.ts';
import { pciControl } from './pci/pci-control.ts';
import { readDevices } from './read-devices.ts';
import { standInDevices } from './stand-in-devices.ts';
import { vfioDevices } from './vfio-devices.ts';

export type DeviceSettings = {
  sysfsRoot: string;
  kinds: readonly KindDriver[];
  dataDirectory: string;
  /** Assigns devices only in the device book, for machines without real ones. */
  standIns: boolean;
};

/** The devices of a host, and what the definition of a domain needs to know about them. */
export type HostDevices = {
  devices: Devices;
  placesOf(devices: readonly DeviceRef[]): Promise<CardPlaces>;
  lockMemory: boolean;
  hideFromBoot(found: readonly InventoryDevice[]): Promise<void>;
};

const DEV_ROOT = '/dev';

export async function openDevices(settings: DeviceSettings, log: Log): Promise<HostDevices> {
  if (settings.standIns) return await openStandIns(settings);
  const { kinds } = settings;
  const sysfs = new Sysfs(settings.sysfsRoot);
  const control = pciControl(settings.sysfsRoot);
  for (const { kind, prepare } of kinds) {
    // Until this succeeds, a device may be reported without an IOMMU group and is then not assigned.
    await prepare?.({ sysfs, control }).catch((error: unknown) =>
      log.warn({ kind, error }, 'devices without a driver could not be prepared'),
    );
  }
  const devices = vfioDevices({
    ...{ sysfs, control, kinds, procRoot: '/proc', devRoot: DEV_ROOT },
    directory: settings.dataDirectory,
  });
  return {
    devices,
    hideFromBoot: devices.hideFromBoot,
    placesOf: (devices) => readCardPlaces({ sysfs, kinds, devRoot: DEV_ROOT }, devices),
    lockMemory: true,
  };
}

async function openStandIns(settings: DeviceSettings): Promise<HostDevices> {
  const { dataDirectory: directory, sysfsRoot, kinds } = settings;
  const present = await readDevices({ sysfsRoot, kinds, warn: () => undefined });
  const serials = new Map(present.map(({ address, serial }) => [address, serial]));
  return {
    devices: standInDevices({ directory, serials }),
    placesOf: async () => NO_PLACES,
    lockMemory: false,
    hideFromBoot: async () => undefined,
  };
}
