import { rm, writeFile } from 'node:fs/promises';

/** Runs the work while only root can read the file. It is removed also if the work fails. */
export async function withSecretFile<T>(
  file: string,
  text: string,
  work: () => Promise<T>,
): Promise<T> {
  // One that a killed agent left may have other rights.
  await rm(file, { force: true });
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
