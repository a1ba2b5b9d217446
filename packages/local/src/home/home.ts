import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { errorCode, StartError } from '../base/start-error.ts';

/**
 * The home is the directory for everything that Gantry keeps on one machine: keys, logs and the
 * embedded database. Only its owner may enter it, unless the database server runs as another user:
 * then other users may pass through it. Every file with a secret therefore has mode 0600.
 */
export type Home = { directory: string; file(name: string): string };

export async function openHome(directory: string): Promise<Home> {
  const absolute = path.resolve(directory);
  try {
    await makeHome(absolute);
    const probe = path.join(absolute, `.probe-${randomBytes(6).toString('hex')}`);
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    throw new StartError(
      `The home ${absolute} cannot be written (${code}). Start as its owner, or set GANTRY_HOME to another directory.`,
      { cause: error },
    );
  }
  return { directory: absolute, file: (name) => path.join(absolute, name) };
}

/** Creates the home with mode 0700. Its parent directories get the default mode. */
async function makeHome(directory: string): Promise<void> {
  await mkdir(path.dirname(directory), { recursive: true });
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Replaces the file atomically and durably. Only its owner may read it. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  // Two launchers may build the same guest image, so each has a temporary file of its own.
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await replaceFile(file, text, 0o600, temporary);
}

export function readIfThere(file: string): Promise<string | undefined> {
  return unlessMissing(readFile(file, 'utf8'));
}

/** Returns the secret in this file. Creates it on first use. */
export async function ensureSecret(file: string): Promise<string> {
  const kept = (await readIfThere(file))?.trim();
  if (kept) {
    await chmod(file, 0o600);
    return kept;
  }
  const secret = randomBytes(32).toString('base64url');
  await writePrivateFile(file, `${secret}\n`);
  return secret;
}
