import type { Sysfs } from '../../base/sysfs.ts';
import { listFunctions, PCI_DEVICES } from './pci-device.ts';

export const VFIO_DRIVER = 'vfio-pci';

/** What assigning a device needs to know about one of its functions now. */
export type PciFunction = {
  address: string;
  /** Six hex digits: 030200 is a 3D controller. */
  deviceClass: string;
  /** Empty: none. */
  driver: string;
  /** Null: no IOMMU, or no driver was ever bound. */
  group: string | null;
  /** Everything in its group, itself included. */
  members: string[];
};

/** Returns null if there is no such function. */
async function readFunction(sysfs: Sysfs, address: string): Promise<PciFunction | null> {
  const device = `${PCI_DEVICES}/${address}`;
  const deviceClass = await sysfs.text(`${device}/class`);
  if (deviceClass === undefined) return null;
  return {
    address,
    deviceClass: deviceClass.replace(/^0x/, ''),
    driver: (await sysfs.linkName(`${device}/driver`)) ?? '',
    group: (await sysfs.linkName(`${device}/iommu_group`)) ?? null,
    members: await sysfs.list(`${device}/iommu_group/devices`),
  };
}

/** Returns all functions of a function's card, that one first. Empty: there is no such function. */
export async function readCard(sysfs: Sysfs, address: string): Promise<PciFunction[]> {
  if ((await readFunction(sysfs, address)) === null) return [];
  return await readFunctions(sysfs, await listFunctions(sysfs, address));
}

export async function readFunctions(
  sysfs: Sysfs,
  addresses: readonly string[],
): Promise<PciFunction[]> {
  const functions = await Promise.all(addresses.map((address) => readFunction(sysfs, address)));
  return functions.filter((each) => each !== null);
}

/** 0000:41:00.1 -> 0000:41:00 */
export function slotOf(address: string): string {
  return address.slice(0, address.lastIndexOf('.'));
}

export function isBridge({ deviceClass }: PciFunction): boolean {
  return deviceClass.startsWith('06');
}
