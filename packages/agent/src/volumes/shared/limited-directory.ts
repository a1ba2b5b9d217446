import { statfs } from 'node:fs/promises';

/** The directory of a shared volume that guests write to, and its size. */
export type LimitedDirectory = { path: string; diskId: string; sizeBytes: number };

/**
 * Whether it is certain, without starting a program, that the directory cannot use more than its size. Of a directory
 * whose project has a limit in force, ext4 and XFS show the limit as the size of the file system. Guests see it as well.
 */
export async function isLimited({
  path,
  sizeBytes,
}: Pick<LimitedDirectory, 'path' | 'sizeBytes'>): Promise<boolean> {
  const { blocks, bsize } = await statfs(path);
  return blocks * bsize <= sizeBytes;
}
