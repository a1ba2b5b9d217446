import { StorageError } from '../storage-error.ts';

/** The length of the part of a qcow2 file that this module reads. */
export const QCOW2_HEADER_BYTES = 104;

const MAGIC = 0x51_46_49_fb;
/** Features that an image file may have: dirty, another compression, extended entries. */
const HARMLESS_FEATURES = 0b11001n;

/**
 * Returns the size of the disk of a qcow2 file. Throws `failed` if the file is no such file, or if it refers to another
 * file: then QEMU would read any file of the control plane that the image's author named.
 */
export function readQcow2Size(file: string, head: Buffer): number {
  const refuse = (reason: string): never => {
    throw new StorageError('failed', `The image file ${file} ${reason}.`);
  };
  if (head.length < 72 || head.readUInt32BE(0) !== MAGIC) return refuse('is not a qcow2 file');
  const version = head.readUInt32BE(4);
  if (version !== 2 && version !== 3) return refuse(`has the unknown version ${version}`);
  if (head.readBigUInt64BE(8) !== 0n || head.readUInt32BE(16) !== 0)
    return refuse('has a backing file');
  if (head.readUInt32BE(32) !== 0) return refuse('is encrypted');
  if (version === 3) {
    if (head.length < QCOW2_HEADER_BYTES) return refuse('has an incomplete header');
    const features = head.readBigUInt64BE(72);
    if ((features & 0b100n) !== 0n) return refuse('has its data in another file');
    if ((features & ~HARMLESS_FEATURES) !== 0n) return refuse('has features that are not known');
  }
  return Number(head.readBigUInt64BE(24));
}
