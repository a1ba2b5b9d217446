import { statfs } from 'node:fs/promises';
import { HostFailure } from '../base/failure.ts';

/**
 * Throws `storage_full` if less than this share of a file system or thin pool is free. Disks take space
 * as guests write, so a new disk on almost full storage would take it from guests that run already.
 */
export function requireFreeShare(
  { place, freePercent }: { place: string; freePercent: number },
  reservePercent: number,
): void {
  if (freePercent >= reservePercent) return;
  const free = Math.floor(freePercent * 10) / 10;
  const message =
    `too little space in ${place}: ${free} % is free, and new disks need ${reservePercent} % ` +
    '(GANTRY_STORAGE_RESERVE_PERCENT)';
  throw new HostFailure('storage_full', message);
}

/** The directory must exist. `neededBytes`: what is about to be written at once. */
export async function requireFreeDirectory(
  directory: string,
  reservePercent: number,
  neededBytes = 0,
): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(directory);
  const freePercent = blocks === 0 ? 100 : ((bavail - neededBytes / bsize) / blocks) * 100;
  if (neededBytes > 0 && freePercent < reservePercent) {
    const message = `${directory} has no space for ${neededBytes} bytes and the reserve of ${reservePercent} %`;
    throw new HostFailure('storage_full', message);
  }
  requireFreeShare({ place: directory, freePercent }, reservePercent);
}
