import { open } from 'node:fs/promises';
import { isQcow2, parseQcow2Header } from './qcow2-header.ts';

export type ImageFormat = { format: 'raw' | 'qcow2'; virtualSizeBytes: number };
export type CachedImage = ImageFormat & { path: string };

const SECTOR_BYTES = 512;

/** Formats that would be taken for a raw disk and then not boot. */
const NOT_A_DISK: readonly { name: string; magic: Buffer }[] = [
  { name: 'compressed by gzip', magic: Buffer.from('1f8b', 'hex') },
  { name: 'compressed by xz', magic: Buffer.from('fd377a585a00', 'hex') },
  { name: 'compressed by zstd', magic: Buffer.from('28b52ffd', 'hex') },
  { name: 'compressed by bzip2', magic: Buffer.from('BZh', 'latin1') },
  { name: 'a VMDK file', magic: Buffer.from('KDMV', 'latin1') },
  { name: 'a VHDX file', magic: Buffer.from('vhdxfile', 'latin1') },
];

/** Throws, with the reason as its message, if a disk cannot be created from the file. */
export async function readImageFormat(path: string): Promise<ImageFormat> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SECTOR_BYTES), 0, SECTOR_BYTES, 0);
    return parseImageFormat(buffer.subarray(0, bytesRead), (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/**
 * A qcow2 file can name other files of the host, which QEMU then opens and shows to the guest.
 * Every image that does so is refused.
 */
export function parseImageFormat(start: Buffer, sizeBytes: number): ImageFormat {
  if (isQcow2(start)) {
    const header = parseQcow2Header(start);
    if (header.backingName) throw new Error('it names a backing file: flatten it first');
    if (header.hasDataFile) throw new Error('it keeps its data in another file: flatten it first');
    if (header.isEncrypted) throw new Error('it is encrypted');
    return { format: 'qcow2', virtualSizeBytes: header.virtualSizeBytes };
  }
  const other = NOT_A_DISK.find(({ magic }) => start.subarray(0, magic.length).equals(magic));
  if (other) throw new Error(`it is ${other.name}: give it as raw or qcow2`);
  if (sizeBytes === 0 || sizeBytes % SECTOR_BYTES !== 0) {
    throw new Error(
      `it has ${sizeBytes} bytes; a disk has a whole number of sectors, at least one`,
    );
  }
  return { format: 'raw', virtualSizeBytes: sizeBytes };
}
