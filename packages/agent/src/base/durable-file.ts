import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Old or new, never half of it, also after a loss of power: written beside, synced, renamed over. */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  const handle = await open(beside, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
  await syncDirectory(dirname(file));
}

/** What was made, renamed or removed in it stays so. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined where there is no such file. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
