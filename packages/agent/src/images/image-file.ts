import { basename, join } from 'node:path';

/**
 * The AppArmor profile of libvirt's own helper lets it read files with some suffixes only. It has to read
 * the image of a disk to let QEMU read it.
 */
export const IMAGE_SUFFIX = '.img';

export function imageFile(directory: string, sha256: string): string {
  return join(directory, `${sha256}${IMAGE_SUFFIX}`);
}

/** Returns the SHA-256 of the image with this path. An earlier version used no suffix. */
export function imageOfFile(path: string): string {
  return basename(path, IMAGE_SUFFIX);
}
