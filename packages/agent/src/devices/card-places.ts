import { MIB } from '@gantry/daemon/units';
import type { DeviceRef } from '../spec.ts';
import type { BlockHost, Blocks, KindDriver, Peers } from './kinds/kind-driver.ts';
import { kindNamed } from './kinds/kinds.ts';
import { type PciDevice, readPciDevice } from './pci/pci-device.ts';

/** A device that a guest gets as a PCI device, with all its functions in one slot. */
export type HandedOver = {
  /** PCI addresses on the host, the main function first. Never empty. */
  functions: readonly string[];
};

export type CardPlaces = {
  /**
   * What the guest gets for a device: several entries if it gets several block devices, none for a
   * stand-in.
   */
  partsOf(address: string): readonly (HandedOver | Blocks)[];
  /** Null if the firmware names no NUMA node. */
  nodeOf(address: string): number | null;
  /** Null: it exchanges data with no other device directly. */
  peersOf(address: string): Peers | null;
  /** The 64-bit memory window that the devices need in the guest. Zero: the firmware's default. */
  mmio64Mib: number;
};

/** The window that q35 and its firmware reserve by default: 32 GiB. */
const DEFAULT_WINDOW_MIB = 32 * 1024;

/** Stand-ins have no slot and no NUMA node, and need no memory window. */
export const NO_PLACES: CardPlaces = {
  ...{ partsOf: () => [], nodeOf: () => null, peersOf: () => null, mmio64Mib: 0 },
};

/**
 * Reads where the devices of a VM are on the host, and the memory window that they need in the
 * guest.
 */
export async function readCardPlaces(
  host: BlockHost & { kinds: readonly KindDriver[] },
  assigned: readonly DeviceRef[],
): Promise<CardPlaces> {
  const devices = new Map<string, PciDevice>();
  const blocks = new Map<string, readonly Blocks[]>();
  const peers = new Map<string, Peers | null>();
  const handedOver: PciDevice[] = [];
  for (const { kind, address } of assigned) {
    const device = await readPciDevice(host.sysfs, address);
    devices.set(address, device);
    const parts = await kindNamed(host.kinds, kind).guestParts?.(host, address);
    if (parts) {
      blocks.set(address, parts);
      continue;
    }
    peers.set(address, kindNamed(host.kinds, kind).peersOf?.(device) ?? null);
    for (const each of device.functions) handedOver.push(await readPciDevice(host.sysfs, each));
  }
  return {
    partsOf: (address) =>
      blocks.get(address) ?? [{ functions: devices.get(address)?.functions ?? [] }],
    nodeOf: (address) => devices.get(address)?.numaNode ?? null,
    peersOf: (address) => peers.get(address) ?? null,
    mmio64Mib: windowMib(handedOver),
  };
}

/**
 * Returns the size of a memory window above 4 GiB that holds these regions in any layout. Each
 * region is aligned to its size, so a power of two of at least twice their sum is always enough.
 * Zero: the firmware's default is enough.
 */
export function windowMib(devices: readonly Pick<PciDevice, 'bars'>[]): number {
  const bytes = devices
    .flatMap(({ bars }) => bars)
    .filter((bar) => bar.is_64bit)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const mib = Math.ceil((2 * bytes) / MIB);
  return mib <= DEFAULT_WINDOW_MIB ? 0 : 2 ** Math.ceil(Math.log2(mib));
}
