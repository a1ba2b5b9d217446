import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Some file systems, for example tmpfs, do not support direct I/O. */
export async function hasDirectIo(directory: string): Promise<boolean> {
  const file = join(directory, '.direct-io');
  try {
    const flags = constants.O_CREAT | constants.O_RDWR | constants.O_DIRECT;
    await (await open(file, flags, 0o600)).close();
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true });
  }
}
