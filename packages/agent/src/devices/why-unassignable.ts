import type { Sysfs } from '../base/sysfs.ts';
import { groupConflict } from './group-conflict.ts';
import type { InventoryDevice, KindDriver } from './kinds/kind-driver.ts';
import { controllerAbove } from './pci/pci-bridges.ts';
import { PCI_DEVICES } from './pci/pci-device.ts';
import { readFunctions, slotOf } from './pci/pci-function.ts';

/** `reason` continues a sentence about the device. */
export type Unassignable = { reason: string; advice: string };

type Host = { sysfs: Sysfs; kinds: readonly KindDriver[]; devices: readonly InventoryDevice[] };

const USE_ACS = 'turn on ACS in the BIOS, or put it into another slot';

/**
 * Returns why the host cannot give the device to a VM as it is set up now, or null. A device that the host uses is
 * for no VM anyway. Placement gives no VM such a device, so this finds everything for which `bind` would refuse it. Unlike `bind` it does not know the VM: another
 * device for VMs counts as one of another VM, unless placement gives both to one VM.
 */
export async function whyUnassignable(
  { sysfs, kinds, devices }: Host,
  device: InventoryDevice,
): Promise<Unassignable | null> {
  const kind = kinds.find((one) => one.kind === device.kind);
  if (kind?.hostDriver !== undefined || device.uses.length > 0) return null;
  const controller = controllerAbove(
    (await sysfs.linkTarget(`${PCI_DEVICES}/${device.address}`)) ?? '',
  );
  if (controller !== undefined)
    return {
      reason: `is behind the storage controller ${controller}, which VMs cannot get`,
      advice: 'turn off VMD (Volume Management Device) in the BIOS',
    };
  const functions = await readFunctions(sysfs, device.functions);
  const members = await readFunctions(sysfs, [...new Set(functions.flatMap((one) => one.members))]);
  const own = new Set(device.functions.map(slotOf));
  const others = devices.filter(({ address }) => !own.has(slotOf(address)));
  const together = others.filter((other) => kind?.groupsWhole && other.kind === device.kind);
  const apart = others.filter((other) => !together.includes(other)).map(({ address }) => address);
  const groupOf = (address: string) =>
    functions.find((one) => one.members.includes(address))?.group ?? '';
  const taken = members.find(({ address }) => apart.includes(address));
  if (taken)
    return {
      reason: `shares IOMMU group ${groupOf(taken.address)} with ${taken.address}, which the same VM does not get`,
      advice: USE_ACS,
    };
  const companions = together.map(({ address }) => address);
  const conflict = groupConflict({ functions, members, companions });
  if (!conflict) return null;
  const { address, driver } = conflict;
  return {
    reason: `shares IOMMU group ${groupOf(address)} with ${address}, which the host's driver ${driver} uses`,
    advice: USE_ACS,
  };
}
