import { readFile } from 'node:fs/promises';

/** Returns the vendor and model of a pair of ids; empty if they are not known. */
export type PciNames = (vendorId: string, deviceId: string) => Promise<string>;

/** Where Debian, Ubuntu and others keep the PCI id database. */
export const PCI_ID_FILES = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids'];

export const NO_NAMES: PciNames = async () => '';

const NEWLINE = 0x0a;
const TAB = 0x09;
const COMMENT = 0x23;

/** Caches the names by pair of ids: a host has a few models, the database thousands. */
export function pciNames(files: readonly string[]): PciNames {
  const known = new Map<string, Promise<string>>();
  return (vendorId, deviceId) => {
    const key = `${vendorId}:${deviceId}`;
    const name = known.get(key) ?? lookUp(files, vendorId, deviceId);
    known.set(key, name);
    return name;
  };
}

async function lookUp(
  files: readonly string[],
  vendorId: string,
  deviceId: string,
): Promise<string> {
  for (const file of files) {
    // A name is optional: if it cannot be read, the device is reported without it.
    const database = await readFile(file).catch(() => null);
    if (database) return findPciName(database, vendorId, deviceId);
  }
  return '';
}

/**
 * Finds "10de  NVIDIA Corporation" and below it, after a tab, "2335  GH100 [H200 SXM 141GB]". It
 * searches bytes, because a slice of a string would keep the whole database in memory.
 */
export function findPciName(database: Buffer, vendorId: string, deviceId: string): string {
  const vendor = findLine(database, `${vendorId}  `, 0);
  if (!vendor) return '';
  const end = endOfVendor(database, vendor.next);
  const device = findLine(database.subarray(0, end), `\t${deviceId}  `, vendor.next);
  return device ? `${vendor.rest} ${device.rest}` : '';
}

function findLine(database: Buffer, prefix: string, from: number) {
  // The search includes the line break before, so that it matches only at the start of a line.
  const found = database.indexOf(`\n${prefix}`, Math.max(0, from - 1));
  if (found < 0) return null;
  const start = found + 1 + prefix.length;
  const end = lineEnd(database, start);
  return { rest: database.toString('utf8', start, end).trim(), next: end + 1 };
}

/** The devices of a vendor are the lines below it that begin with a tab. */
function endOfVendor(database: Buffer, from: number): number {
  let at = from;
  while (at < database.length && (database[at] === TAB || database[at] === COMMENT)) {
    at = lineEnd(database, at) + 1;
  }
  return Math.min(at, database.length);
}

function lineEnd(database: Buffer, from: number): number {
  const end = database.indexOf(NEWLINE, from);
  return end < 0 ? database.length : end;
}
