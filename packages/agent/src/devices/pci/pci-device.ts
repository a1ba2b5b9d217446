import type { Sysfs } from '../../base/sysfs.ts';
import {
  isAllOnes,
  type PciBar,
  parseAerTotal,
  parseBars,
  parseGts,
  parseId,
  parseWords,
} from './pci-attributes.ts';
import { bridgesAbove } from './pci-bridges.ts';
import { NO_NAMES, type PciNames } from './pci-names.ts';

/**
 * A device as the kernel shows it under bus/pci/devices; PciDevice in the proto explains the
 * fields.
 */
export type PciDevice = {
  address: string;
  vendorId: string;
  deviceId: string;
  subsystemVendorId: string;
  subsystemDeviceId: string;
  numaNode?: number;
  iommuGroup?: number;
  iommuGroupOthers: string[];
  driver: string;
  resetMethods: string[];
  link?: { speedGts: number; maxSpeedGts: number; width: number; maxWidth: number };
  aer?: { correctable: number; nonfatal: number; fatal: number };
  bridges: string[];
  functions: string[];
  bars: PciBar[];
  name: string;
  lost: boolean;
};

export const PCI_DEVICES = 'bus/pci/devices';
/** Vendor and device id. No device has all ones here. */
const ID_BYTES = 4;

export async function readPciDevice(
  sysfs: Sysfs,
  address: string,
  names: PciNames = NO_NAMES,
): Promise<PciDevice> {
  const device = `${PCI_DEVICES}/${address}`;
  const id = async (name: string) => parseId(await sysfs.text(`${device}/${name}`));
  const numaNode = await sysfs.integer(`${device}/numa_node`);
  const group = await sysfs.linkName(`${device}/iommu_group`);
  const link = await readLink(sysfs, device);
  const aer = await readAer(sysfs, device);
  const members = await sysfs.list(`${device}/iommu_group/devices`);
  const vendorId = await id('vendor');
  const deviceId = await id('device');
  return {
    address,
    vendorId,
    deviceId,
    subsystemVendorId: await id('subsystem_vendor'),
    subsystemDeviceId: await id('subsystem_device'),
    // The kernel writes -1 if the firmware names no node.
    ...(numaNode !== undefined && numaNode >= 0 && { numaNode }),
    ...(group !== undefined && { iommuGroup: Number(group) }),
    iommuGroupOthers: members.filter((member) => member !== address),
    driver: (await sysfs.linkName(`${device}/driver`)) ?? '',
    resetMethods: parseWords(await sysfs.text(`${device}/reset_method`)),
    ...(link && { link }),
    ...(aer && { aer }),
    bridges: bridgesAbove((await sysfs.linkTarget(device)) ?? ''),
    functions: await listFunctions(sysfs, address),
    bars: parseBars(await sysfs.text(`${device}/resource`)),
    name: await names(vendorId, deviceId),
    lost: vendorId === 'ffff' || (await isLost(sysfs, address)),
  };
}

/** Lists the devices whose class begins with these hex digits, without virtual functions. */
export async function listDevicesOfClass(sysfs: Sysfs, classPrefix: string): Promise<string[]> {
  const addresses: string[] = [];
  for (const address of await sysfs.list(PCI_DEVICES)) {
    const deviceClass = parseId(await sysfs.text(`${PCI_DEVICES}/${address}/class`));
    if (!deviceClass.startsWith(classPrefix) || (await isVirtual(sysfs, address))) continue;
    addresses.push(address);
  }
  return addresses;
}

/** Whether a device that the kernel still lists has fallen off the bus. */
export async function isLost(sysfs: Sysfs, address: string): Promise<boolean> {
  return isAllOnes(await sysfs.bytes(`${PCI_DEVICES}/${address}/config`, ID_BYTES));
}

/**
 * Returns every function in the same slot, this one first: a card's graphics, audio and USB. A
 * virtual function is not among them, although it may have a number of the same slot.
 */
export async function listFunctions(sysfs: Sysfs, address: string): Promise<string[]> {
  const slot = address.replace(/[0-7]$/, '');
  const functions = [address];
  for (const other of await sysfs.list(PCI_DEVICES)) {
    if (!other.startsWith(slot) || other === address) continue;
    if (!(await isVirtual(sysfs, other))) functions.push(other);
  }
  return functions;
}

/** A virtual function (SR-IOV) is part of a device that is already listed. */
async function isVirtual(sysfs: Sysfs, address: string): Promise<boolean> {
  return (await sysfs.linkName(`${PCI_DEVICES}/${address}/physfn`)) !== undefined;
}

async function readLink(sysfs: Sysfs, device: string): Promise<PciDevice['link']> {
  const maxSpeedGts = parseGts(await sysfs.text(`${device}/max_link_speed`));
  const maxWidth = await sysfs.integer(`${device}/max_link_width`);
  // The kernel writes 255 lanes for an unknown width, for example for devices without a link.
  if (maxSpeedGts === 0 || maxWidth === undefined || maxWidth === 0 || maxWidth === 255) return;
  return {
    speedGts: parseGts(await sysfs.text(`${device}/current_link_speed`)),
    maxSpeedGts,
    width: (await sysfs.integer(`${device}/current_link_width`)) ?? 0,
    maxWidth,
  };
}

async function readAer(sysfs: Sysfs, device: string): Promise<PciDevice['aer']> {
  const correctable = parseAerTotal(await sysfs.text(`${device}/aer_dev_correctable`));
  const nonfatal = parseAerTotal(await sysfs.text(`${device}/aer_dev_nonfatal`));
  const fatal = parseAerTotal(await sysfs.text(`${device}/aer_dev_fatal`));
  if (correctable === undefined || nonfatal === undefined || fatal === undefined) return;
  return { correctable, nonfatal, fatal };
}
