import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically and durably: after a crash or a power loss the file has either the old
 * or the new content. Writes to the temporary file `beside`, syncs it and renames it.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
  beside = `${file}.new`,
): Promise<void> {
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

/** Makes the creations, renames and removals in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await syncFile(directory);
}

/** Makes the content of a file durable that another program has written. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns undefined if the file does not exist. Throws every other error. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
