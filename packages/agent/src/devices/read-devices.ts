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
  /** Vendors whose display controllers are GPUs to give away: four hex digits each. */
  gpuVendorIds: readonly string[];
  nvlinkPairs: readonly NvlinkPair[];
  /** Absent: a host that is not this machine; it uses none of its drives. */
  procRoot?: string;
  /** Absent: nothing is read from drives. */
  devRoot?: string;
  /** Whether a VM has a drive: what it says of itself is then its tenant's word. Absent: none has. */
  isAssigned?: (pciAddress: string) => Promise<boolean>;
  /** Absent: no device has a name. */
  names?: PciNames;
  /** Of a controller by its name. Absent: drives are not asked. */
  healthOf?: (controller: string) => Promise<DriveHealth | undefined>;
  /** Absent: no vendor's tool is asked. */
  vendorWarnings?: VendorWarnings;
  /** Told what could not be found out; the inventory goes on without it. */
  warn: (message: string) => void;
};

/** What can be given to VMs, and how well it is. */
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
