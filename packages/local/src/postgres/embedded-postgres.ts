import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { ensureSecret, type Home, openHome } from '../home/home.ts';
import { boundLog } from '../processes/log-file.ts';
import { type Cluster, ensureClusterDirectory } from './cluster-directory.ts';
import { ensureDatabase, login } from './database-login.ts';
import { ensureClusterData, SUPERUSER } from './init-cluster.ts';
import {
  ensureServerFiles,
  exists,
  findInstalledBinaries,
  removeOtherServerFiles,
} from './postgres-files.ts';
import {
  launchPostmaster,
  observePostmaster,
  type Postmaster,
  removeStalePidFile,
  stopPostmaster,
} from './postmaster.ts';
import { startGuard, waitForOldGuard } from './postmaster-guard.ts';

/**
 * A PostgreSQL of our own in a home. Every step can be repeated, and a crash at any of them is cured
 * by starting again: the files and the data directory appear whole or not at all, a server that is
 * still there is taken over, and one that was killed recovers as PostgreSQL does.
 */
export type EmbeddedPostgres = {
  databaseUrl: string;
  /** The same server, another database. */
  urlOf(database: string): string;
  pid: number;
  port: number;
  dataDirectory: string;
  isRunning(): Promise<boolean>;
  stop(): Promise<void>;
};

type Options = {
  /** The home's directory; made where it is missing. */
  home: string;
  /** A directory with bin, lib and share; the installed PostgreSQL when left out. */
  binariesDirectory?: string;
  /** This port and no other; a free one when left out. */
  port?: number;
};

const DATABASE = 'gantry';
/** The longest one takes over a starting or stopping server, or waits for a killed one's children. */
const TAKEOVER_LIMIT_MS = 120_000;

export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const home = await openHome(options.home);
  await waitForOldGuard(home);
  const cluster = await ensureClusterDirectory(home);
  const password = await readPassword(home, cluster);
  const urlAt = (port: number, database: string) =>
    `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;

  const found = await takeOver(cluster, (port) => urlAt(port, 'postgres'));
  const server = found ?? (await startServer({ options, home, cluster, password }));
  const guard = await startGuard({ home, pid: server.pid, user: cluster.user });
  try {
    await ensureDatabase(urlAt(server.port, 'postgres'), DATABASE);
  } catch (error) {
    await stopPostmaster(cluster.data);
    await guard.release();
    throw error;
  }
  return {
    databaseUrl: urlAt(server.port, DATABASE),
    urlOf: (database) => urlAt(server.port, database),
    pid: server.pid,
    port: server.port,
    dataDirectory: cluster.data,
    isRunning: async () => (await observePostmaster(cluster.data))?.pid === server.pid,
    async stop() {
      // The guard stays until the server is gone: should we be killed meanwhile, it sees to the end.
      await stopPostmaster(cluster.data);
      await guard.release();
    },
  };
}

async function readPassword(home: Home, cluster: Cluster): Promise<string> {
  const file = home.file('postgres-password');
  if ((await exists(cluster.data)) && !(await exists(file))) {
    throw new StartError(
      `${file} is missing, and the database in ${cluster.data} opens with it alone. ` +
        'Bring it back, or set GANTRY_HOME to another directory to begin anew.',
    );
  }
  return ensureSecret(file);
}

/** The server of this data directory that is running already, once it answers to our password. */
async function takeOver(
  cluster: Cluster,
  urlAt: (port: number) => string,
): Promise<Postmaster | undefined> {
  const result = await waitUntil<Postmaster | 'none'>({
    limitMs: TAKEOVER_LIMIT_MS,
    condition: async () => {
      const server = await observePostmaster(cluster.data);
      if (!server) return 'none';
      if (server.status !== 'ready') return undefined;
      const answer = await login(urlAt(server.port));
      if (answer === 'refused') {
        throw new StartError(`The server of ${cluster.data} does not take the home's password.`);
      }
      return answer === 'welcome' ? server : undefined;
    },
  });
  if (result === undefined) {
    throw new StartError(`The server of ${cluster.data} runs, but does not answer.`);
  }
  return result === 'none' ? undefined : result;
}

type Start = { options: Options; home: Home; cluster: Cluster; password: string };

async function startServer({ options, home, cluster, password }: Start): Promise<Postmaster> {
  const binaries = options.binariesDirectory ?? findInstalledBinaries();
  const files = await ensureServerFiles(binaries, cluster.directory);
  await ensureClusterData({ cluster, files, password });
  await removeOtherServerFiles(files);
  await removeStalePidFile(cluster.data);
  const logFile = home.file('postgres.log');
  await boundLog(logFile);

  const end = Date.now() + TAKEOVER_LIMIT_MS;
  for (;;) {
    const port = options.port ?? (await findFreePort());
    const result = await launchPostmaster({ cluster, files, port, logFile });
    if (typeof result === 'object') return result;
    if (Date.now() > end) {
      throw new StartError(
        result === 'survivors'
          ? `Processes of a killed PostgreSQL still use ${cluster.data}. End them and start again.`
          : `PostgreSQL could not get port ${port} on 127.0.0.1.`,
      );
    }
    // Survivors of a killed server end with their statement; a port is free when its user ends.
    await delay(200);
  }
}

/** Free at this moment; another program may be faster, and then the next one is tried. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address && typeof address === 'object') resolve(address.port);
        else reject(new Error('BUG: a listening server without an address'));
      });
    });
  });
}
