import { MIB } from '@gantry/daemon/units';
import type { Sysfs } from '../base/sysfs.ts';
import { readDrive } from './kinds/nvme/nvme-drive.ts';
import { type PciDevice, readPciDevice } from './pci/pci-device.ts';

/** A device that a guest gets as a PCI device, with all its functions in one slot. */
export type HandedOver = {
  /** PCI addresses on the host, the main function first. Never empty. */
  functions: readonly string[];
};

/** A namespace of a drive that stays with the host's driver; the guest gets its blocks. */
export type Blocks = { path: string; serial: string };

export type CardPlaces = {
  /**
   * What the guest gets for a device: several entries if a drive has several namespaces, none for a
   * stand-in.
   */
  partsOf(address: string): readonly (HandedOver | Blocks)[];
  /** Null if the firmware names no NUMA node. */
  nodeOf(address: string): number | null;
  /** The 64-bit memory window that the devices need in the guest. Zero: the firmware's default. */
  mmio64Mib: number;
};

/** What q35 and its firmware keep free: 32 GiB. */
const DEFAULT_WINDOW_MIB = 32 * 1024;

/** Stand-ins are in no slot, near no memory, and need no room. */
export const NO_PLACES: CardPlaces = { partsOf: () => [], nodeOf: () => null, mmio64Mib: 0 };

/**
 * Where the cards and drives of a VM sit on the host, and the room they need in the guest. A drive that
 * the host's driver has is one whose blocks are given.
 */
export async function readCardPlaces(
  host: { sysfs: Sysfs; devRoot: string },
  addresses: readonly string[],
): Promise<CardPlaces> {
  const devices = new Map<string, PciDevice>();
  const blocks = new Map<string, Blocks[]>();
  const handedOver: PciDevice[] = [];
  for (const address of addresses) {
    const device = await readPciDevice(host.sysfs, address);
    devices.set(address, device);
    const drive = await readDrive(host, address);
    if (drive) {
      const { serial, namespaces } = drive;
      blocks.set(
        address,
        namespaces.map(({ path }) => ({ path, serial })),
      );
      continue;
    }
    for (const each of device.functions) handedOver.push(await readPciDevice(host.sysfs, each));
  }
  return {
    partsOf: (address) =>
      blocks.get(address) ?? [{ functions: devices.get(address)?.functions ?? [] }],
    nodeOf: (address) => devices.get(address)?.numaNode ?? null,
    mmio64Mib: windowMib(handedOver),
  };
}

/**
 * The memory window above 4 GiB that holds these regions, however they are laid out: each region is
 * aligned to its size, so a power of two that is twice their sum always does. Zero: what the firmware
 * takes by itself is enough.
 */
export function windowMib(devices: readonly Pick<PciDevice, 'bars'>[]): number {
  const bytes = devices
    .flatMap(({ bars }) => bars)
    .filter((bar) => bar.is_64bit)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const mib = Math.ceil((2 * bytes) / MIB);
  return mib <= DEFAULT_WINDOW_MIB ? 0 : 2 ** Math.ceil(Math.log2(mib));
}
