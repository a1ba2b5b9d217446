import type { Sysfs } from '../../../base/sysfs.ts';
import { listDevicesOfClass, PCI_DEVICES, readPciDevice } from '../../pci/pci-device.ts';
import { type InventoryDevice, type InventoryHost, inventoryDevice } from '../kind-driver.ts';
import type { DriveHealthReader } from './drive-health.ts';
import { readDriveUses } from './drive-uses.ts';

/** Mass storage, non-volatile memory, NVMe. */
const NVME_CLASS = '010802';
/**
 * The kernel counts block device sizes in these units, independent of the drive's own sector size.
 */
const SECTOR_BYTES = 512;

/** Reads identity, size and health of the drives that are on the host's driver, and their uses. */
export async function readDrives(
  host: InventoryHost,
  healthOf?: DriveHealthReader,
): Promise<InventoryDevice[]> {
  const { sysfs, names } = host;
  const drives: InventoryDevice[] = [];
  for (const address of await listDevicesOfClass(sysfs, NVME_CLASS)) {
    const [controller] = await sysfs.list(`${PCI_DEVICES}/${address}/nvme`);
    const folder = `${PCI_DEVICES}/${address}/nvme/${controller}`;
    const { sizeBytes, blockSize } = await readNamespaces(sysfs, folder);
    drives.push(
      inventoryDevice('drive', await readPciDevice(sysfs, address, names), {
        serial: (await sysfs.text(`${folder}/serial`)) ?? '',
        model: (await sysfs.text(`${folder}/model`)) ?? '',
        firmware: (await sysfs.text(`${folder}/firmware_rev`)) ?? '',
        sizeBytes,
        uses: await readUses(host, address),
        health: (controller === undefined ? undefined : await healthOf?.(controller)) ?? {},
        attributes: blockSize > 0 ? { block_size: String(blockSize) } : {},
      }),
    );
  }
  return drives;
}

async function readUses(host: InventoryHost, address: string): Promise<string[]> {
  const { sysfs, procRoot, devRoot } = host;
  if (procRoot === undefined) return [];
  const mayRead = devRoot !== undefined && !(await host.isAssigned(address));
  return await readDriveUses({ sysfs, procRoot, ...(mayRead && { devRoot }) }, address);
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
