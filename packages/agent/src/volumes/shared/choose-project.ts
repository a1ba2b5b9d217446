import { randomInt } from 'node:crypto';
import type { ProjectLimit } from './project-programs.ts';

/** The projects of Gantry: from 1073741824 to 2147483647. People and other programs count from 1 upwards. */
const FIRST = 2 ** 30;
const COUNT = 2 ** 30;

const BYTES_PER_KIB = 1_024;
/**
 * One file for each 16 KiB, which is what `mkfs.ext4` makes room for. If the sizes of all shared volumes fit the file
 * system, so do the files that they may have.
 */
const BYTES_PER_INODE = 16_384;

/**
 * Returns a project that is not taken. The search starts at a random number: two processes that choose at the same time
 * do not see each other's choice, and the next free number would be the same for both.
 */
export function chooseProject(isTaken: (id: number) => boolean, start = randomInt(COUNT)): number {
  for (let step = 0; step < COUNT; step += 1) {
    const id = FIRST + ((start + step) % COUNT);
    if (!isTaken(id)) return id;
  }
  throw new Error('BUG: every project is taken');
}

export function limitOf(sizeBytes: number): ProjectLimit {
  return {
    // 0 would be no limit.
    kib: Math.max(1, Math.floor(sizeBytes / BYTES_PER_KIB)),
    inodes: Math.max(1, Math.floor(sizeBytes / BYTES_PER_INODE)),
  };
}
