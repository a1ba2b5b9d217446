import type { Sysfs } from '../base/sysfs.ts';
import { PCI_DEVICES } from '../devices/pci/pci-device.ts';

const FIRST_BAR = 0x10;
const BARS = 6;
/** Of a BAR's lowest bits: ports rather than memory, and 64 bits wide. */
const IS_PORTS = 0x1;
const WIDTH = 0x6;
const WIDTH_64 = 0x4;
/** Of the kernel's flags: it has a size, but no address was found for it. */
const UNSET = 0x20000000n;

/**
 * The memory regions that the device has and the kernel found no room for, as when the firmware
 * leaves none above 4 GiB. The kernel either marks them or forgets them; then the device's own config
 * space still says that there is one. That tells 64-bit regions only: an empty register without any
 * bit looks like one that is not there.
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

/** The upper half of a 64-bit region is no region, whatever its bits look like. */
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
