import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { StartError } from '../base/start-error.ts';
import { readIfThere } from '../home/home.ts';
import type { Cluster } from './cluster-directory.ts';

/** The only role of an embedded cluster. It may create databases, because tests do that. */
export const SUPERUSER = 'gantry';

const ATTEMPT = 'data.init-';

type Init = { cluster: Cluster; files: string; password: string };

/**
 * The data directory appears atomically: initdb writes to a temporary directory that is renamed at
 * the end. The next attempt removes what an interrupted attempt left behind.
 */
export async function ensureClusterData({ cluster, files, password }: Init): Promise<void> {
  await removeAttempts(cluster);
  const version = (await readIfThere(path.join(cluster.data, 'PG_VERSION')))?.trim();
  if (version !== undefined) return refuseOtherMajor({ cluster, files, version });

  const attempt = path.join(cluster.directory, `${ATTEMPT}${randomBytes(6).toString('hex')}`);
  const passwordFile = `${attempt}.password`;
  await mkdir(attempt, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (cluster.user) {
    await chown(attempt, cluster.user.uid, cluster.user.gid);
    await chown(passwordFile, cluster.user.uid, cluster.user.gid);
  }
  try {
    await runInitdb({ cluster, files, attempt, passwordFile });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await chmod(attempt, 0o700);
  await rename(attempt, cluster.data);
  await syncDirectory(cluster.directory);
}

type InitdbRun = { cluster: Cluster; files: string; attempt: string; passwordFile: string };

async function runInitdb({ cluster, files, attempt, passwordFile }: InitdbRun): Promise<void> {
  const { code, output } = await runAsServer(cluster, path.join(files, 'bin/initdb'), [
    `--pgdata=${attempt}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  if (code !== 0) throw new StartError(`PostgreSQL's initdb failed (${code}):\n${output.trim()}`);
}

async function refuseOtherMajor({
  cluster,
  files,
  version,
}: {
  cluster: Cluster;
  files: string;
  version: string;
}): Promise<void> {
  const { output } = await runAsServer(cluster, path.join(files, 'bin/postgres'), ['--version']);
  const major = /\) (\d+)/.exec(output)?.[1];
  if (major === version) return;
  throw new StartError(
    `The database in ${cluster.data} was created by PostgreSQL ${version}, ` +
      `but ${major ?? output} is installed. ` +
      'Move the data with pg_dump, or set GANTRY_HOME to another directory.',
  );
}

async function runAsServer(
  cluster: Cluster,
  program: string,
  args: string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, {
    ...cluster.user,
    cwd: cluster.directory,
    env: serverEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, problems, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output: out + problems };
}

/** The server inherits no secret, and no PG* variable that would change its behaviour. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

async function removeAttempts(cluster: Cluster): Promise<void> {
  for (const name of await readdir(cluster.directory)) {
    if (!name.startsWith(ATTEMPT)) continue;
    // If the launcher was killed, its initdb may still be writing there.
    const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
    await rm(path.join(cluster.directory, name), options);
  }
}
