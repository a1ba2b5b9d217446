import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { type NvlinkPair, parseNvlinkPairs } from '../devices/kinds/gpu/nvlink-pairs.ts';
import { vendorWarningsReader } from '../devices/kinds/gpu/vendor-warnings.ts';
import { driveHealthReader } from '../devices/kinds/nvme/drive-health.ts';
import { PCI_ID_FILES, pciNames } from '../devices/pci/pci-names.ts';
import type { InventorySettings } from './inventory.ts';

/** The settings that the inventory takes from the environment; it reads the rest from the host. */
export function readInventorySettings(reader: SettingsReader): Omit<InventorySettings, 'warn'> {
  // NVIDIA and AMD.
  const vendors = reader.text('GANTRY_GPU_VENDORS', '10de,1002');
  return {
    sysfsRoot: reader.text('GANTRY_SYSFS_ROOT', '/sys'),
    procRoot: '/proc',
    devRoot: '/dev',
    names: pciNames(PCI_ID_FILES),
    healthOf: driveHealthReader(),
    vendorWarnings: vendorWarningsReader(),
    gpuVendorIds: vendors.split(',').map((id) => id.trim().toLowerCase()),
    nvlinkPairs: readNvlinkPairs(reader),
    sharedStorage: reader.integer('GANTRY_SHARED_STORAGE', { fallback: 0, min: 0, max: 1 }) === 1,
    libvirtSocket: reader.text('GANTRY_LIBVIRT_SOCKET', '/run/libvirt/libvirt-sock'),
  };
}

function readNvlinkPairs(reader: SettingsReader): NvlinkPair[] {
  const text = reader.optional('GANTRY_NVLINK_PAIRS');
  if (text === undefined) return [];
  try {
    return parseNvlinkPairs(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`GANTRY_NVLINK_PAIRS: ${reason}`, { cause: error });
  }
}
