import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, mkdir, realpath, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { errorCode, StartError } from '../base/start-error.ts';
import type { Home } from '../home/home.ts';
import { exists } from './postgres-files.ts';

export type User = { uid: number; gid: number };

/** If this user can reach a directory, every user can. */
export const NOBODY: User = { uid: 65534, gid: 65534 };
const ELSEWHERE = '/var/lib/gantry';

/**
 * Returns a directory of the home that other users can reach. For root only. If the home is in a
 * closed directory (such as a checkout in /root), the entry in the home is a link.
 */
export async function ensureReachable(home: Home, name: string): Promise<string> {
  const place = home.file(name);
  if (!(await isThere(place))) await makeReachable(home, place);
  return await follow(place);
}

async function makeReachable(home: Home, place: string): Promise<void> {
  const { mode } = await stat(home.directory);
  await chmod(home.directory, mode | 0o011);
  if (await canEnter(home.directory, NOBODY)) {
    await makeDirectory(place);
    return;
  }
  await chmod(home.directory, mode);
  await mkdir(path.dirname(ELSEWHERE), { recursive: true });
  await makeDirectory(ELSEWHERE);
  const directory = path.join(ELSEWHERE, randomBytes(8).toString('hex'));
  await makeDirectory(directory);
  await symlink(directory, place);
  await syncDirectory(home.directory);
}

/** All users may pass through; only the owner may list and write. Independent of the umask. */
async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    return unlessThere(error);
  }
  await chmod(directory, 0o711);
}

export async function follow(place: string): Promise<string> {
  if (await exists(place)) return realpath(place);
  throw new StartError(
    `${place} is a link to a directory that does not exist any more. ` +
      'Restore that directory, or remove the link to start with an empty one.',
  );
}

/** Tries it instead of reading modes, because access lists and mounts also matter. */
export async function canEnter(directory: string, user: User): Promise<boolean> {
  const child = spawn('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function isThere(place: string): Promise<boolean> {
  try {
    await lstat(place);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

export function unlessThere(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}
