import type { Sysfs } from '../../../base/sysfs.ts';
import { listDevicesOfClass, type PciDevice, readPciDevice } from '../../pci/pci-device.ts';
import { NO_NAMES, type PciNames } from '../../pci/pci-names.ts';

/**
 * Base class of display controllers: 0300 VGA, 0302 3D (NVIDIA's data-centre cards), 0380 other.
 */
export const DISPLAY_CLASS = '03';

/** The vendor distinguishes GPUs from the display adapter of a server's management controller. */
export async function readGpuDevices(
  sysfs: Sysfs,
  vendorIds: readonly string[],
  names: PciNames = NO_NAMES,
): Promise<PciDevice[]> {
  const gpus: PciDevice[] = [];
  for (const address of await listDevicesOfClass(sysfs, DISPLAY_CLASS)) {
    const pci = await readPciDevice(sysfs, address, names);
    if (vendorIds.includes(pci.vendorId)) gpus.push(pci);
  }
  return gpus;
}
