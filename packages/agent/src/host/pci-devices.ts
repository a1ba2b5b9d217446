import { bridgesAbove } from './pci-bridges.ts';
import type { Sysfs } from './sysfs.ts';

/** GPUs and NVMe drives as the kernel shows them under bus/pci/devices. */
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
};
export type Gpu = { pci: PciDevice; nvlinkPeer: string };
export type NvmeDrive = {
  pci: PciDevice;
  serial: string;
  model: string;
  firmware: string;
  sizeBytes: number;
};

const DEVICES = 'bus/pci/devices';
/** Base class of display controllers: 0300 VGA, 0302 3D (NVIDIA's data-centre cards), 0380 other. */
const DISPLAY_CLASS = '03';
/** Mass storage, non-volatile memory, NVMe. */
const NVME_CLASS = '010802';
/** The kernel counts block device sizes in these, whatever the drive's own sector is. */
const SECTOR_BYTES = 512;

/** Vendors tell GPUs from the display adapter of a server's management controller. */
export async function readGpuDevices(
  sysfs: Sysfs,
  vendorIds: readonly string[],
): Promise<PciDevice[]> {
  const gpus: PciDevice[] = [];
  for (const address of await devicesOfClass(sysfs, DISPLAY_CLASS)) {
    const pci = await readPciDevice(sysfs, address);
    if (vendorIds.includes(pci.vendorId)) gpus.push(pci);
  }
  return gpus;
}

export async function readNvmeDrives(sysfs: Sysfs): Promise<NvmeDrive[]> {
  const drives: NvmeDrive[] = [];
  for (const address of await devicesOfClass(sysfs, NVME_CLASS)) {
    const [controller] = await sysfs.list(`${DEVICES}/${address}/nvme`);
    const folder = `${DEVICES}/${address}/nvme/${controller}`;
    drives.push({
      pci: await readPciDevice(sysfs, address),
      serial: (await sysfs.text(`${folder}/serial`)) ?? '',
      model: (await sysfs.text(`${folder}/model`)) ?? '',
      firmware: (await sysfs.text(`${folder}/firmware_rev`)) ?? '',
      sizeBytes: await readNamespacesBytes(sysfs, folder),
    });
  }
  return drives;
}

/** Physical functions only: a virtual one is part of a device that is listed already. */
async function devicesOfClass(sysfs: Sysfs, classPrefix: string): Promise<string[]> {
  const addresses: string[] = [];
  for (const address of await sysfs.list(DEVICES)) {
    const deviceClass = idOf(await sysfs.text(`${DEVICES}/${address}/class`));
    const parent = await sysfs.linkName(`${DEVICES}/${address}/physfn`);
    if (deviceClass.startsWith(classPrefix) && parent === undefined) addresses.push(address);
  }
  return addresses;
}

async function readPciDevice(sysfs: Sysfs, address: string): Promise<PciDevice> {
  const device = `${DEVICES}/${address}`;
  const id = async (name: string) => idOf(await sysfs.text(`${device}/${name}`));
  const numaNode = await sysfs.integer(`${device}/numa_node`);
  const group = await sysfs.linkName(`${device}/iommu_group`);
  const link = await readLink(sysfs, device);
  const aer = await readAer(sysfs, device);
  const members = await sysfs.list(`${device}/iommu_group/devices`);
  return {
    address,
    vendorId: await id('vendor'),
    deviceId: await id('device'),
    subsystemVendorId: await id('subsystem_vendor'),
    subsystemDeviceId: await id('subsystem_device'),
    // The kernel says -1 where the firmware names no node.
    ...(numaNode !== undefined && numaNode >= 0 && { numaNode }),
    ...(group !== undefined && { iommuGroup: Number(group) }),
    iommuGroupOthers: members.filter((member) => member !== address),
    driver: (await sysfs.linkName(`${device}/driver`)) ?? '',
    resetMethods: wordsOf(await sysfs.text(`${device}/reset_method`)),
    ...(link && { link }),
    ...(aer && { aer }),
    bridges: bridgesAbove((await sysfs.linkTarget(device)) ?? ''),
  };
}

async function readLink(sysfs: Sysfs, device: string): Promise<PciDevice['link']> {
  const maxSpeedGts = parseGts(await sysfs.text(`${device}/max_link_speed`));
  const maxWidth = await sysfs.integer(`${device}/max_link_width`);
  // 255 lanes is how the kernel spells "unknown", as for virtual devices without a link.
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

async function readNamespacesBytes(sysfs: Sysfs, folder: string): Promise<number> {
  let sectors = 0;
  for (const name of await sysfs.list(folder)) {
    if (/^nvme\d+(c\d+)?n\d+$/.test(name)) {
      sectors += (await sysfs.integer(`${folder}/${name}/size`)) ?? 0;
    }
  }
  return sectors * SECTOR_BYTES;
}

/** 0x10DE -> 10de */
function idOf(value: string | undefined): string {
  return (value ?? '').toLowerCase().replace(/^0x/, '');
}

function wordsOf(value: string | undefined): string[] {
  return (value ?? '').split(/\s+/).filter((word) => word !== '');
}

/** "32.0 GT/s PCIe" -> 32; "Unknown" -> 0 */
function parseGts(value: string | undefined): number {
  return Number(/^([\d.]+) GT\/s/.exec(value ?? '')?.[1] ?? 0);
}

/** The last line of a counter file: "TOTAL_ERR_FATAL 0". */
function parseAerTotal(value: string | undefined): number | undefined {
  const total = /^TOTAL_ERR_\w+ (\d+)$/m.exec(value ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}
