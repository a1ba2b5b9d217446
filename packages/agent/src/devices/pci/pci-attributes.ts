/** Parsers for the attributes of a PCI device in sysfs. */

/** The names are those of the wire: its loader does not convert an underscore before a digit. */
export type PciBar = { index: number; sizeBytes: number; is_64bit: boolean; prefetchable: boolean };

/** Regions 0 to 5 are the device's own; then come its ROM, virtual functions and bridge windows. */
const OWN_REGIONS = 6;
/** Some of the kernel's IORESOURCE_ flags. */
const MEMORY = 0x200n;
const PREFETCHABLE = 0x2000n;
const MEMORY_64 = 0x100000n;

/** 0x10DE -> 10de */
export function parseId(value: string | undefined): string {
  return (value ?? '').toLowerCase().replace(/^0x/, '');
}

export function parseWords(value: string | undefined): string[] {
  return (value ?? '').split(/\s+/).filter((word) => word !== '');
}

/** "32.0 GT/s PCIe" -> 32; "Unknown" -> 0 */
export function parseGts(value: string | undefined): number {
  return Number(/^([\d.]+) GT\/s/.exec(value ?? '')?.[1] ?? 0);
}

/** The last line of a counter file: "TOTAL_ERR_FATAL 0". */
export function parseAerTotal(value: string | undefined): number | undefined {
  const total = /^TOTAL_ERR_\w+ (\d+)$/m.exec(value ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}

/** One line per region: first address, last address, flags; zeros if there is no region. */
export function parseBars(resource: string | undefined): PciBar[] {
  const lines = (resource ?? '').split('\n').slice(0, OWN_REGIONS);
  return lines.flatMap((line, index) => {
    const [start, end, flags] = /^0x[\da-f]+ 0x[\da-f]+ 0x[\da-f]+$/i.test(line.trim())
      ? line.trim().split(' ').map(BigInt)
      : [];
    if (start === undefined || end === undefined || flags === undefined) return [];
    if ((flags & MEMORY) === 0n || end <= start) return [];
    return {
      index,
      sizeBytes: Number(end - start + 1n),
      is_64bit: (flags & MEMORY_64) !== 0n,
      prefetchable: (flags & PREFETCHABLE) !== 0n,
    };
  });
}

/** What a read of config space returns if the device is gone: all ones. */
export function isAllOnes(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length > 0 && bytes.every((byte) => byte === 0xff);
}
