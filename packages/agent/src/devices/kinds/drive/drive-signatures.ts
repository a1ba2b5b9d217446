import { open } from 'node:fs/promises';

const SECTOR = 512;
const LVM_LABEL = 'LABELONE';
const MD_MAGIC = 0xa92b4efc;
/** The offset of each signature. A drive that has one is in use, even if it is not mounted. */
const MAGICS: readonly { at: number; magic: string; says: string }[] = [
  { at: 65_536 + 64, magic: '_BHRfS_M', says: 'part of a btrfs file system' },
  { at: 1_080, magic: '\x53\xef', says: 'an ext file system' },
  { at: 0, magic: 'XFSB', says: 'an XFS file system' },
  { at: 0, magic: 'LUKS\xba\xbe', says: 'an encrypted volume' },
  { at: 4_086, magic: 'SWAPSPACE2', says: 'a swap space' },
  { at: 512, magic: 'EFI PART', says: 'a partition table' },
  { at: 4_096, magic: 'EFI PART', says: 'a partition table' },
  { at: 510, magic: '\x55\xaa', says: 'a boot sector or partition table' },
];
/** ZFS keeps a ring of these, in the byte order of the machine that wrote it. */
const ZFS_RING = { from: 131_072, to: 262_144, step: 1_024 };
const ZFS_MAGIC = 0x00bab10c;
const MD_WITHIN = [0, 4_096];
const READ_BYTES = ZFS_RING.to;

/**
 * Returns what a block device contains or is a member of, according to its signatures, even if it
 * is not in use now: a file system that is not mounted still has an owner. Null: no known
 * signature. MD's oldest formats are at the end of a device, at an offset that follows from its
 * size.
 */
export async function readSignature(path: string, sizeBytes: number): Promise<string | null> {
  const file = await open(path, 'r');
  try {
    const start = Buffer.alloc(READ_BYTES);
    const { bytesRead } = await file.read(start, 0, READ_BYTES, 0);
    const found = signatureOf(start.subarray(0, bytesRead));
    if (found) return found;
    const end = Buffer.alloc(4);
    for (const position of mdAtTheEnd(sizeBytes)) {
      const read = await file.read(end, 0, end.length, position);
      if (read.bytesRead === end.length && isMd(end, 0)) return 'a member of an MD RAID';
    }
    return null;
  } finally {
    await file.close();
  }
}

function signatureOf(start: Buffer): string | null {
  for (let sector = 0; sector < 4; sector += 1) {
    const label = start.subarray(sector * SECTOR, sector * SECTOR + LVM_LABEL.length);
    if (label.toString('latin1') === LVM_LABEL) return 'an LVM physical volume';
  }
  if (MD_WITHIN.some((offset) => isMd(start, offset))) return 'a member of an MD RAID';
  if (hasZfsRing(start)) return 'part of a ZFS pool';
  const found = MAGICS.find(
    ({ at, magic }) => start.subarray(at, at + magic.length).toString('latin1') === magic,
  );
  return found?.says ?? null;
}

function isMd(bytes: Buffer, offset: number): boolean {
  if (bytes.length < offset + 4) return false;
  // Format 0.90 is written in the machine's own byte order.
  return bytes.readUInt32LE(offset) === MD_MAGIC || bytes.readUInt32BE(offset) === MD_MAGIC;
}

/** Format 1.0 is 8 KiB before the end, format 0.90 at least 64 KiB before it; both are aligned. */
function mdAtTheEnd(sizeBytes: number): number[] {
  const v10 = Math.floor((sizeBytes - 8_192) / 4_096) * 4_096;
  const v090 = Math.floor(sizeBytes / 65_536) * 65_536 - 65_536;
  return [v10, v090].filter((position) => position > 0);
}

function hasZfsRing(start: Buffer): boolean {
  for (let at = ZFS_RING.from; at < ZFS_RING.to; at += ZFS_RING.step) {
    if (start.length < at + 8) return false;
    if (start.readBigUInt64LE(at) === BigInt(ZFS_MAGIC)) return true;
    if (start.readBigUInt64BE(at) === BigInt(ZFS_MAGIC)) return true;
  }
  return false;
}
