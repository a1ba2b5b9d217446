import type { FileHandle } from 'node:fs/promises';
import { StorageError } from '../storage-error.ts';

const SECTOR = 512;
const MAGIC = 'KDMV';
const DESCRIPTOR_BYTES = 20 * SECTOR;
/** Says that the directory is at the end of the file, where a copy of the header is too. */
const AT_END = 0xffff_ffff_ffff_ffffn;
/** The copy of the header is before the last sector. */
const FOOTER_FROM_END = 2 * SECTOR;

/**
 * Returns the size of the disk of a VMDK file. Accepts files that have all their data in them, as exports have
 * (`monolithicSparse`, `streamOptimized`). Throws `failed` for files that name others: QEMU would read any file of the
 * control plane that the image's author named. A sparse file without a capacity is such a file too.
 */
export async function readVmdkSize(file: string, handle: FileHandle): Promise<number> {
  const refuse = (reason: string): never => {
    throw new StorageError('failed', `The image file ${file} ${reason}.`);
  };
  const read = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  const isHeader = (bytes: Buffer) =>
    bytes.length === SECTOR && bytes.toString('latin1', 0, 4) === MAGIC;
  const head = await read(0, SECTOR);
  if (!isHeader(head)) return refuse('is not a sparse VMDK file with its data in it');
  const { capacity, descriptorAt, directoryAt } = parse(head);
  if (capacity === 0n) return refuse('has its data in another file');
  if (directoryAt === AT_END) {
    const { size } = await handle.stat();
    const foot = await read(Math.max(0, size - FOOTER_FROM_END), SECTOR);
    // QEMU uses the second header instead of the first.
    const isSame =
      isHeader(foot) &&
      parse(foot).capacity === capacity &&
      parse(foot).descriptorAt === descriptorAt;
    if (!isSame) return refuse('has two headers that differ');
  }
  if (descriptorAt > BigInt(Number.MAX_SAFE_INTEGER) / BigInt(SECTOR))
    return refuse('has a wrong header');
  const descriptor = await read(Number(descriptorAt) * SECTOR, DESCRIPTOR_BYTES);
  if (descriptorAt !== 0n && descriptor.toString('latin1').includes('parentFileNameHint'))
    return refuse('has a backing file');
  return Number(capacity) * SECTOR;
}

function parse(header: Buffer) {
  return {
    capacity: header.readBigUInt64LE(12),
    descriptorAt: header.readBigUInt64LE(28),
    directoryAt: header.readBigUInt64LE(56),
  };
}
