import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '../base/start-error.ts';
import type { Home } from '../home/home.ts';
import { exists } from './postgres-files.ts';
import {
  canEnter,
  ensureReachable,
  follow,
  NOBODY,
  type User,
  unlessThere,
} from './reachable-directory.ts';

/**
 * Where the cluster's files lie and who runs the server. PostgreSQL refuses to run as root, so root
 * runs it as "nobody"; that user must then be able to walk to the files. When the home lies below a
 * closed directory (a checkout in /root), the files get a directory of their own elsewhere and the
 * home holds a link to it.
 */
export type Cluster = {
  directory: string;
  data: string;
  /** Undefined where the server runs as we do. */
  user: User | undefined;
};

export async function ensureClusterDirectory(home: Home): Promise<Cluster> {
  const place = home.file('postgres');
  const uid = process.getuid?.();
  if (uid !== 0) {
    await mkdir(place, { mode: 0o700 }).catch(unlessThere);
    return ownCluster(await follow(place), uid);
  }
  const directory = await ensureReachable(home, 'postgres');
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

/** A cluster made by an ordinary user goes on as that user when root starts it. */
async function ownerOf(data: string): Promise<User | undefined> {
  if (!(await exists(data))) return undefined;
  const { uid, gid } = await stat(data);
  return uid === 0 ? undefined : { uid, gid };
}
