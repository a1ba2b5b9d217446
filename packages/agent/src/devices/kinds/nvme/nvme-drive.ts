import { join } from 'node:path';
import type { Sysfs } from '../../../base/sysfs.ts';
import { untilTrue } from '../../../base/until-true.ts';
import { PCI_DEVICES } from '../../pci/pci-device.ts';
import { listNamespaces } from './block-devices.ts';

export const NVME_DRIVER = 'nvme';

/** What identifies a drive. A tenant controls it completely, so it may come back changed. */
export type DriveIdentity = { serial: string; firmware: string; sizeBytes: number };

/** A drive that is bound to the host's driver. */
export type NvmeDrive = DriveIdentity & {
  /** nvme0, in /dev. */
  controller: string;
  namespaces: { path: string; sizeBytes: number }[];
};

const SECTOR_BYTES = 512;
/**
 * A controller is ready within the time that it declares itself, half a minute for large drives.
 */
const READY_TIMEOUT_MS = 60_000;

/** Returns null if the drive is not on the host's driver or has no namespace. */
export async function readDrive(
  { sysfs, devRoot }: { sysfs: Sysfs; devRoot: string },
  address: string,
): Promise<NvmeDrive | null> {
  const folder = `${PCI_DEVICES}/${address}/nvme`;
  const [controller] = await sysfs.list(folder);
  if (controller === undefined) return null;
  const namespaces: NvmeDrive['namespaces'] = [];
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
export async function untilDrive(
  host: { sysfs: Sysfs; devRoot: string },
  address: string,
): Promise<NvmeDrive | null> {
  const isWhole = (drive: NvmeDrive | null) =>
    drive?.namespaces.every(({ sizeBytes }) => sizeBytes > 0) ?? false;
  await untilTrue(async () => isWhole(await readDrive(host, address)), READY_TIMEOUT_MS);
  const drive = await readDrive(host, address);
  return isWhole(drive) ? drive : null;
}

/** Returns what a tenant changed that erasing does not undo, or null. */
export function changeOf(before: DriveIdentity, now: DriveIdentity): string | null {
  if (before.serial !== now.serial) return `its serial number was ${before.serial}`;
  if (before.firmware !== now.firmware) {
    return `its firmware was ${before.firmware} and is ${now.firmware}`;
  }
  if (before.sizeBytes !== now.sizeBytes) {
    return `it had ${before.sizeBytes} bytes and has ${now.sizeBytes}`;
  }
  return null;
}
