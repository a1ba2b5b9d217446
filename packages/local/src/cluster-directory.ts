import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, mkdir, realpath, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { type Home, syncDirectory } from './home.ts';
import { exists } from './postgres-files.ts';
import { errorCode, StartError } from './start-error.ts';

/**
 * Where the cluster's files lie and who runs the server. PostgreSQL refuses to run as root, so root
 * runs it as "nobody"; that user must then be able to walk to the files. When the home lies below a
 * closed directory (a checkout in /root), the files get a directory of their own elsewhere and the
 * home holds a link to it.
 */
export type ServerUser = { uid: number; gid: number };

export type Cluster = {
  directory: string;
  data: string;
  /** Undefined where the server runs as we do. */
  user: ServerUser | undefined;
};

const NOBODY: ServerUser = { uid: 65534, gid: 65534 };
const ELSEWHERE = '/var/lib/gantry';

export async function ensureClusterDirectory(home: Home): Promise<Cluster> {
  const place = home.file('postgres');
  const uid = process.getuid?.();
  if (uid !== 0) {
    await mkdir(place, { mode: 0o700 }).catch(unlessThere);
    return ownCluster(await follow(place), uid);
  }
  if (!(await isThere(place))) await makeReachable(home, place);
  const directory = await follow(place);
  const data = path.join(directory, 'data');
  const user = (await ownerOf(data)) ?? NOBODY;
  if (!(await canEnter(directory, user))) {
    throw new StartError(
      `The database's files in ${directory} cannot be reached by user ${user.uid}, who runs it. ` +
        'Open the directories above for passing through (chmod o+x), or move GANTRY_HOME.',
    );
  }
  return { directory, data, user };
}

async function ownCluster(directory: string, uid: number | undefined): Promise<Cluster> {
  const owner = await stat(directory);
  const data = path.join(directory, 'data');
  if (uid !== undefined && owner.uid !== uid) {
    throw new StartError(
      `The database in ${directory} was made by user ${owner.uid}. Start as that user, or set GANTRY_HOME to another directory.`,
    );
  }
  return { directory, data, user: undefined };
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

/** Passing through for all, listing and writing for the owner alone, whatever the umask says. */
async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    return unlessThere(error);
  }
  await chmod(directory, 0o711);
}

async function follow(place: string): Promise<string> {
  if (await exists(place)) return realpath(place);
  throw new StartError(
    `${place} points to a directory that is gone, and the database with it. ` +
      'Bring it back, or remove the link to begin with an empty database.',
  );
}

/** A cluster made by an ordinary user goes on as that user when root starts it. */
async function ownerOf(data: string): Promise<ServerUser | undefined> {
  if (!(await exists(data))) return undefined;
  const { uid, gid } = await stat(data);
  return uid === 0 ? undefined : { uid, gid };
}

/** Tried, not computed from the modes: access lists and mounts have their say too. */
async function canEnter(directory: string, user: ServerUser): Promise<boolean> {
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

function unlessThere(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}
