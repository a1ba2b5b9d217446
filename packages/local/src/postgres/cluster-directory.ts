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
 * Where the cluster's files are and which user runs the server. PostgreSQL refuses to run as root,
 * so root runs it as "nobody", and that user must be able to reach the files. If the home is in a
 * closed directory (such as a checkout in /root), the files are in another directory and the home
 * contains a link to it.
 */
export type Cluster = {
  directory: string;
  data: string;
  /** Undefined if the server runs as the launcher's own user. */
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
      `The database runs as user ${user.uid}, which cannot reach its files in ${directory}. ` +
        'Allow that user to enter the parent directories (chmod o+x), or move GANTRY_HOME.',
    );
  }
  return { directory, data, user };
}

async function ownCluster(directory: string, uid: number | undefined): Promise<Cluster> {
  const owner = await stat(directory);
  const data = path.join(directory, 'data');
  if (uid !== undefined && owner.uid !== uid) {
    throw new StartError(
      `The database in ${directory} belongs to user ${owner.uid}. ` +
        'Start as that user, or set GANTRY_HOME to another directory.',
    );
  }
  return { directory, data, user: undefined };
}

/** If an ordinary user created the cluster, root runs the server as that user. */
async function ownerOf(data: string): Promise<User | undefined> {
  if (!(await exists(data))) return undefined;
  const { uid, gid } = await stat(data);
  return uid === 0 ? undefined : { uid, gid };
}
