import { Sysfs } from '../base/sysfs.ts';
import { joinPairs, type NvlinkPair } from './kinds/gpu/nvlink-pairs.ts';
import { readGpuDevices } from './kinds/gpu/read-gpus.ts';
import type { VendorWarnings } from './kinds/gpu/vendor-warnings.ts';
import type { DriveHealth } from './kinds/nvme/drive-health.ts';
import { readDriveUses } from './kinds/nvme/drive-uses.ts';
import { type NvmeDrive, readNvmeDrives } from './kinds/nvme/read-drives.ts';
import type { PciDevice } from './pci/pci-device.ts';
import type { PciNames } from './pci/pci-names.ts';

export type Gpu = { pci: PciDevice; nvlinkPeer: string; vendorWarnings: string[] };

export type DeviceOptions = {
  sysfsRoot: string;
  /** Vendors whose display controllers are GPUs for VMs: four hex digits each. */
  gpuVendorIds: readonly string[];
  nvlinkPairs: readonly NvlinkPair[];
  /** Absent: the host is not this machine, and uses none of its drives. */
  procRoot?: string;
  /** Absent: the content of drives is not read. */
  devRoot?: string;
  /**
   * Whether a VM has the drive: its content is then a tenant's and is not read. Absent: no VM has
   * it.
   */
  isAssigned?: (pciAddress: string) => Promise<boolean>;
  /** Absent: devices are reported without names. */
  names?: PciNames;
  /** Takes the name of a controller. Absent: the health of drives is not read. */
  healthOf?: (controller: string) => Promise<DriveHealth | undefined>;
  /** Absent: the vendor's tool is not run. */
  vendorWarnings?: VendorWarnings;
  /** Called with what could not be read; the inventory continues without it. */
  warn: (message: string) => void;
};

/** Reads the devices that VMs can get, and their health. */
export async function readDevices(
  options: DeviceOptions,
): Promise<{ gpus: Gpu[]; nvmes: NvmeDrive[] }> {
  const { gpuVendorIds, nvlinkPairs, procRoot, devRoot, names, healthOf, warn } = options;
  const sysfs = new Sysfs(options.sysfsRoot);
  const gpuDevices = await readGpuDevices(sysfs, gpuVendorIds, names);
  const warnings = await options.vendorWarnings?.(gpuDevices);
  return {
    gpus: joinPairs(gpuDevices, nvlinkPairs, warn).map((gpu) => ({
      ...gpu,
      vendorWarnings: warnings?.get(gpu.pci.address) ?? [],
    })),
    nvmes: await readNvmeDrives(sysfs, {
      ...(names && { names }),
      ...(healthOf && { healthOf }),
      ...(procRoot !== undefined && {
        usesOf: async (address) => {
          const mayRead = devRoot !== undefined && !(await options.isAssigned?.(address));
          return readDriveUses({ sysfs, procRoot, ...(mayRead && { devRoot }) }, address);
        },
      }),
    }),
  };
}
