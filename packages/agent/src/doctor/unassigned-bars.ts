import type { Sysfs } from '../base/sysfs.ts';
import { PCI_DEVICES } from '../devices/pci/pci-device.ts';

const FIRST_BAR = 0x10;
const BARS = 6;
/** Lowest bits of a BAR: I/O ports instead of memory, and 64 bits wide. */
const IS_PORTS = 0x1;
const WIDTH = 0x6;
const WIDTH_64 = 0x4;
/** Flag of the kernel: the region has a size, but no address was found for it. */
const UNSET = 0x20000000n;

/**
 * Returns the memory regions of the device for which the kernel found no address, for example
 * because the firmware leaves no room above 4 GiB. The kernel either marks such a region or drops
 * it; in the second case the device's config space still shows it. That works for 64-bit regions
 * only, because an empty 32-bit register looks like one that does not exist.
 */
export async function unassignedBars(sysfs: Sysfs, address: string): Promise<number[]> {
  const device = `${PCI_DEVICES}/${address}`;
  const resource = await sysfs.text(`${device}/resource`);
  if (resource === undefined) return [];
  const lines = resource.split('\n').slice(0, BARS);
  const config = await sysfs.bytes(`${device}/config`, FIRST_BAR + BARS * 4);
  return lines.flatMap((line, index) => {
    const flags = flagsOf(line);
    const isMarked = (flags & UNSET) !== 0n;
    const isForgotten = flags === 0n && is64BitMemory(config, index);
    return isMarked || isForgotten ? index : [];
  });
}

function flagsOf(line: string): bigint {
  const flags = line.trim().split(' ')[2];
  return flags !== undefined && /^0x[\da-f]+$/i.test(flags) ? BigInt(flags) : 0n;
}

/** The upper half of a 64-bit region is not a region of its own. */
function is64BitMemory(config: Buffer | undefined, index: number): boolean {
  const is64Bit = (at: number) => {
    const offset = FIRST_BAR + at * 4;
    if (config === undefined || config.length < offset + 4) return false;
    const register = config.readUInt32LE(offset);
    return (register & IS_PORTS) === 0 && (register & WIDTH) === WIDTH_64;
  };
  let at = 0;
  while (at < index) at += is64Bit(at) ? 2 : 1;
  return at === index && is64Bit(index);
}
