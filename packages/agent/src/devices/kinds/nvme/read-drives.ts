import type { Sysfs } from '../../../base/sysfs.ts';
import {
  listDevicesOfClass,
  PCI_DEVICES,
  type PciDevice,
  readPciDevice,
} from '../../pci/pci-device.ts';
import { NO_NAMES, type PciNames } from '../../pci/pci-names.ts';
import type { DriveHealth } from './drive-health.ts';

export type NvmeDrive = {
  pci: PciDevice;
  serial: string;
  model: string;
  firmware: string;
  sizeBytes: number;
  blockSize: number;
  uses: string[];
  health?: DriveHealth;
};

/** What is read about a drive besides its own attributes. Absent: it is not read. */
type DriveQuestions = {
  names?: PciNames;
  usesOf?: (pciAddress: string) => Promise<string[]>;
  /** By the controller's name: nvme0. */
  healthOf?: (controller: string) => Promise<DriveHealth | undefined>;
};

/** Mass storage, non-volatile memory, NVMe. */
const NVME_CLASS = '010802';
/**
 * The kernel counts block device sizes in these units, independent of the drive's own sector size.
 */
const SECTOR_BYTES = 512;

export async function readNvmeDrives(
  sysfs: Sysfs,
  { names = NO_NAMES, usesOf, healthOf }: DriveQuestions = {},
): Promise<NvmeDrive[]> {
  const drives: NvmeDrive[] = [];
  for (const address of await listDevicesOfClass(sysfs, NVME_CLASS)) {
    const [controller] = await sysfs.list(`${PCI_DEVICES}/${address}/nvme`);
    const folder = `${PCI_DEVICES}/${address}/nvme/${controller}`;
    const health = controller === undefined ? undefined : await healthOf?.(controller);
    drives.push({
      pci: await readPciDevice(sysfs, address, names),
      serial: (await sysfs.text(`${folder}/serial`)) ?? '',
      model: (await sysfs.text(`${folder}/model`)) ?? '',
      firmware: (await sysfs.text(`${folder}/firmware_rev`)) ?? '',
      ...(await readNamespaces(sysfs, folder)),
      uses: (await usesOf?.(address)) ?? [],
      ...(health && { health }),
    });
  }
  return drives;
}

/** The size of all namespaces together, and the block size of the first. */
async function readNamespaces(sysfs: Sysfs, folder: string) {
  let sectors = 0;
  let blockSize = 0;
  for (const name of await sysfs.list(folder)) {
    if (!/^nvme\d+(c\d+)?n\d+$/.test(name)) continue;
    sectors += (await sysfs.integer(`${folder}/${name}/size`)) ?? 0;
    blockSize ||= (await sysfs.integer(`${folder}/${name}/queue/logical_block_size`)) ?? 0;
  }
  return { sizeBytes: sectors * SECTOR_BYTES, blockSize };
}
