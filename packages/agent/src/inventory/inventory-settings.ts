import type { SettingsReader } from '@gantry/daemon/settings';
import { readCapacitySettings } from '../capacity/capacity-settings.ts';
import { createKinds, readKindSettings } from '../devices/kinds/kinds.ts';
import { PCI_ID_FILES, pciNames } from '../devices/pci/pci-names.ts';
import type { InventorySettings } from './inventory.ts';

/** The settings that the inventory takes from the environment; it reads the rest from the host. */
export function readInventorySettings(reader: SettingsReader): Omit<InventorySettings, 'warn'> {
  return {
    sysfsRoot: reader.text('GANTRY_SYSFS_ROOT', '/sys'),
    procRoot: '/proc',
    devRoot: '/dev',
    names: pciNames(PCI_ID_FILES),
    kinds: createKinds(readKindSettings(reader)),
    capacity: readCapacitySettings(reader),
    sharedStorage: reader.integer('GANTRY_SHARED_STORAGE', { fallback: 0, min: 0, max: 1 }) === 1,
    enforcesBandwidth:
      reader.integer('GANTRY_ENFORCE_BANDWIDTH', { fallback: 0, min: 0, max: 1 }) === 1,
    libvirtSocket: reader.text('GANTRY_LIBVIRT_SOCKET', '/run/libvirt/libvirt-sock'),
  };
}
