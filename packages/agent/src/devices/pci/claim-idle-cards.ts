import { bindToVfio, ensureVfio } from './bind-driver.ts';
import type { PciHost } from './pci-control.ts';
import { readPciDevice } from './pci-device.ts';

/**
 * Binds the cards that have no driver to VFIO. The host does not use them, and some kernels put a
 * device into its IOMMU group only when it has a driver: until then it could not be assigned to a
 * VM.
 */
export async function claimIdleCards(host: PciHost, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    const { driver, functions, iommuGroup } = await readPciDevice(host.sysfs, address);
    if (driver !== '' || iommuGroup !== undefined) continue;
    await ensureVfio(host);
    for (const each of functions) {
      const { driver: own } = await readPciDevice(host.sysfs, each);
      if (own === '') await bindToVfio(host, each);
    }
  }
}
