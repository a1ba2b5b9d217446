import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { MIB } from '@gantry/daemon/units';

/** A GUID partition table for a disk with 512-byte sectors. Its ids are derived from the names. */
export type Partition = { name: string; type: PartitionType; firstByte: number; bytes: number };
export type PartitionType = keyof typeof TYPES;

/** In UEFI's notation. The first three groups are stored in little-endian order. */
const TYPES = {
  efi: 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B',
  linux: '0FC63DAF-8483-4772-8E79-3D69D8477DE4',
};

const SECTOR = 512;
const ENTRIES = 128;
const ENTRY_BYTES = 128;
const TABLE_BYTES = ENTRIES * ENTRY_BYTES;
/** The header and the entries at each end of the disk. */
const TABLE_SECTORS = 1 + TABLE_BYTES / SECTOR;
/** Partitions start and end at multiples of this, which suits disks of every block size. */
export const ALIGNMENT = MIB;

/** The bytes for the start and for the end of the disk. */
export type PartitionTable = { start: Buffer; end: Buffer; endsAt: number };

export function renderPartitionTable(
  diskBytes: number,
  partitions: readonly Partition[],
): PartitionTable {
  const last = diskBytes / SECTOR - 1;
  const entries = Buffer.concat([...partitions.map(renderEntry)], TABLE_BYTES);
  const header = (at: number, other: number, entriesAt: number) =>
    renderHeader({ at, other, entriesAt, last, entries });
  return {
    start: Buffer.concat([protectiveRecord(last), header(1, last, 2), entries]),
    end: Buffer.concat([entries, header(last, 1, last - TABLE_SECTORS + 1)]),
    endsAt: diskBytes - TABLE_SECTORS * SECTOR,
  };
}

type Header = { at: number; other: number; entriesAt: number; last: number; entries: Buffer };

function renderHeader({ at, other, entriesAt, last, entries }: Header): Buffer {
  const header = Buffer.alloc(SECTOR);
  header.write('EFI PART', 0, 'latin1');
  header.writeUInt32LE(0x00010000, 8);
  header.writeUInt32LE(92, 12);
  header.writeBigUInt64LE(BigInt(at), 24);
  header.writeBigUInt64LE(BigInt(other), 32);
  header.writeBigUInt64LE(BigInt(1 + TABLE_SECTORS), 40);
  header.writeBigUInt64LE(BigInt(last - TABLE_SECTORS), 48);
  guid(namedGuid('disk')).copy(header, 56);
  header.writeBigUInt64LE(BigInt(entriesAt), 72);
  header.writeUInt32LE(ENTRIES, 80);
  header.writeUInt32LE(ENTRY_BYTES, 84);
  header.writeUInt32LE(crc32(entries), 88);
  header.writeUInt32LE(crc32(header.subarray(0, 92)), 16);
  return header;
}

function renderEntry({ name, type, firstByte, bytes }: Partition): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  guid(TYPES[type]).copy(entry, 0);
  guid(namedGuid(name)).copy(entry, 16);
  entry.writeBigUInt64LE(BigInt(firstByte / SECTOR), 32);
  entry.writeBigUInt64LE(BigInt((firstByte + bytes) / SECTOR - 1), 40);
  entry.write(name, 56, 72, 'utf16le');
  return entry;
}

/** The only entry of the protective MBR. It shows old programs that the disk is in use. */
function protectiveRecord(last: number): Buffer {
  const record = Buffer.alloc(SECTOR);
  Buffer.from([0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff]).copy(record, 446);
  record.writeUInt32LE(1, 454);
  record.writeUInt32LE(Math.min(last, 0xffffffff), 458);
  record.writeUInt16LE(0xaa55, 510);
  return record;
}

function namedGuid(name: string): string {
  const digest = createHash('sha256').update(`gantry tiny guest ${name}`).digest('hex');
  const [a, b, c, d] = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    digest.slice(13, 16),
    digest.slice(17, 20),
  ];
  return `${a}-${b}-4${c}-8${d}-${digest.slice(20, 32)}`;
}

function guid(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}
