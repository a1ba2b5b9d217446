import { join } from 'node:path';
import { untilTrue } from '../../../base/until-true.ts';
import { PCI_DEVICES } from '../../pci/pci-device.ts';
import type { BlockHost, DeviceIdentity } from '../kind-driver.ts';
import { listNamespaces } from './block-devices.ts';

export const NVME_DRIVER = 'nvme';

/** A drive that is bound to the host's driver. */
export type BoundDrive = DeviceIdentity & {
  /** nvme0, in /dev. */
  controller: string;
  namespaces: { path: string; sizeBytes: number }[];
};

const SECTOR_BYTES = 512;
/**
 * A controller is ready within the time that it declares itself, half a minute for large drives.
 */
export const READY_TIMEOUT_MS = 60_000;

/** Returns null if the drive is not on the host's driver or has no namespace. */
export async function readDrive(
  { sysfs, devRoot }: BlockHost,
  address: string,
): Promise<BoundDrive | null> {
  const folder = `${PCI_DEVICES}/${address}/nvme`;
  const [controller] = await sysfs.list(folder);
  if (controller === undefined) return null;
  const namespaces: BoundDrive['namespaces'] = [];
  for (const name of await listNamespaces(sysfs, address)) {
    const sectors = (await sysfs.integer(`class/block/${name}/size`)) ?? 0;
    namespaces.push({ path: join(devRoot, name), sizeBytes: sectors * SECTOR_BYTES });
  }
  if (namespaces.length === 0) return null;
  const text = async (name: string) => (await sysfs.text(`${folder}/${controller}/${name}`)) ?? '';
  return {
    controller: join(devRoot, controller),
    namespaces,
    serial: await text('serial'),
    firmware: await text('firmware_rev'),
    sizeBytes: namespaces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

/**
 * Waits for the namespaces of a drive that was just bound to the host's driver. Returns null if it
 * shows none in time.
 */
export async function untilDrive(host: BlockHost, address: string): Promise<BoundDrive | null> {
  const isWhole = (drive: BoundDrive | null) =>
    drive?.namespaces.every(({ sizeBytes }) => sizeBytes > 0) ?? false;
  await untilTrue(async () => isWhole(await readDrive(host, address)), READY_TIMEOUT_MS);
  const drive = await readDrive(host, address);
  return isWhole(drive) ? drive : null;
}

/** Returns what a tenant changed and cannot be restored, or null. */
export function changeOf(before: DeviceIdentity, now: DeviceIdentity): string | null {
  if (before.serial !== now.serial) return `its serial number was ${before.serial}`;
  if (before.firmware !== now.firmware) {
    return `its firmware was ${before.firmware} and is ${now.firmware}`;
  }
  if (before.sizeBytes !== now.sizeBytes) {
    return `it had ${before.sizeBytes} bytes and has ${now.sizeBytes}`;
  }
  return null;
}
