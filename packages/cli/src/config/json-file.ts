import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { UsageError } from '../cli-errors.ts';
import { withFileLock } from './file-lock.ts';

/** Returns undefined if the file does not exist. */
export async function readJson(file: string): Promise<unknown> {
  const text = await unlessMissing(readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is not valid JSON. Mend it, or remove it and log in again.`);
  }
}

/**
 * Runs the work while no other process changes the file. `write` replaces the file atomically, with
 * the mode 0600: a reader sees the old or the new content, and other users see neither.
 */
export async function changeJson<T>(
  file: string,
  work: (write: (next: unknown) => Promise<void>) => Promise<T>,
): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const write = (next: unknown) => replaceFile(file, `${JSON.stringify(next, null, 2)}\n`, 0o600);
  return await withFileLock(`${file}.lock`, () => work(write));
}
