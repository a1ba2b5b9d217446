import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { GIB } from '@gantry/daemon/units';
import { isUnicast } from '@gantry/model/cidr';
import type { DeviceSettings } from '../devices/open-devices.ts';
import type { InventorySettings } from '../inventory/inventory.ts';
import { readInventorySettings } from '../inventory/inventory-settings.ts';
import { readGuestNetworkSettings } from '../network/guest-network-settings.ts';
import type { GuestNetworkSettings } from '../seed/network-config.ts';
import {
  readDataDirectory,
  readStorageSettings,
  type StorageSettings,
} from '../volumes/storage-settings.ts';
import {
  type AcceleratorSettings,
  readAcceleratorSettings,
} from './platform/choose-accelerator.ts';

/** How the agent drives libvirt and the kernel of its host. */
export type HostDriverSettings = {
  inventory: Omit<InventorySettings, 'warn'>;
  /** The directory for disks, images, seeds and consoles. */
  dataDirectory: string;
  imageCacheBytes: number;
  storage: StorageSettings;
  guests: GuestNetworkSettings & { mtu: number };
  /** The interface to the outside. Undefined: guests reach only each other. */
  uplink: string | undefined;
  /**
   * The address to which other hosts send guests' packets. Undefined: the uplink's or the default
   * route's.
   */
  underlayAddress: string | undefined;
  /** The address from which the host reaches storage clusters. Undefined: it gets no VMs with volumes. */
  storageAddress: string | undefined;
  reachableFromHost: boolean;
  accelerator: AcceleratorSettings;
  /** VMs with more memory start only with hugepages. Null: none needs them. */
  hugepagesAboveMib: number | null;
  devices: Pick<DeviceSettings, 'standIns'>;
  /** Ceph's settings for QEMU. Absent: the file that libvirt's AppArmor profile allows. */
  cephConfFile?: string;
  /** Where shared volumes of storage clusters are mounted. Absent: below /run. */
  shareDirectory?: string;
  /** A network namespace that stands for the host. Absent: the agent's own. */
  netns?: string;
};

const MIB_PER_GIB = 1_024;

export function readHostDriverSettings(reader: SettingsReader): HostDriverSettings {
  const isOn = (name: string) => reader.integer(name, { fallback: 0, min: 0, max: 1 }) === 1;
  return {
    inventory: readInventorySettings(reader),
    dataDirectory: readDataDirectory(reader),
    imageCacheBytes:
      reader.integer('GANTRY_IMAGE_CACHE_GIB', { fallback: 100, min: 1, max: 100_000 }) * GIB,
    storage: readStorageSettings(reader),
    guests: readGuestNetworkSettings(reader),
    uplink: reader.optional('GANTRY_UPLINK'),
    underlayAddress: readOwnAddress(reader, 'GANTRY_UNDERLAY_ADDRESS', 'others reach'),
    storageAddress: readOwnAddress(reader, 'GANTRY_STORAGE_ADDRESS', 'storage clusters see'),
    reachableFromHost: isOn('GANTRY_REACHABLE_FROM_HOST'),
    accelerator: readAcceleratorSettings(reader),
    hugepagesAboveMib: readHugepagesAbove(reader),
    devices: { standIns: isOn('GANTRY_STAND_IN_DEVICES') },
  };
}

function readHugepagesAbove(reader: SettingsReader): number | null {
  const name = 'GANTRY_HUGEPAGES_ABOVE_GIB';
  if (reader.optional(name) === undefined) return null;
  return reader.integer(name, { fallback: 0, min: 0, max: 100_000 }) * MIB_PER_GIB;
}

function readOwnAddress(reader: SettingsReader, name: string, use: string): string | undefined {
  const address = reader.optional(name);
  if (address === undefined || isUnicast(address)) return address;
  throw new SettingsError(
    `${name} must be an IPv4 address of this host that ${use}, not "${address}"`,
  );
}
