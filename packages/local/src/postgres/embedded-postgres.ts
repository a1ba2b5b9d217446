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
 * An embedded PostgreSQL server in a home. Every step is idempotent, so a restart recovers from a
 * crash at any point: the files and the data directory appear atomically, a server that still runs
 * is taken over, and a killed server recovers as PostgreSQL always does.
 */
export type EmbeddedPostgres = {
  databaseUrl: string;
  /** The URL of another database on the same server. */
  urlOf(database: string): string;
  pid: number;
  port: number;
  dataDirectory: string;
  isRunning(): Promise<boolean>;
  stop(): Promise<void>;
};

type Options = {
  /** The home's directory. It is created if it is missing. */
  home: string;
  /** A directory with bin, lib and share. The default is the installed PostgreSQL. */
  binariesDirectory?: string;
  /** The port to use. The default is any free port. */
  port?: number;
  /** False for tests: they lose nothing with the machine, and a slow disk would hold up all of them. */
  durable?: boolean;
};

const DATABASE = 'gantry';
/** Limit for taking over a starting or stopping server, or for a dead server's children to exit. */
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
      // The guard runs until the server has stopped, in case this process is killed before that.
      await stopPostmaster(cluster.data);
      await guard.release();
    },
  };
}

async function readPassword(home: Home, cluster: Cluster): Promise<string> {
  const file = home.file('postgres-password');
  if ((await exists(cluster.data)) && !(await exists(file))) {
    throw new StartError(
      `${file} is missing. It contains the password of the database in ${cluster.data}. ` +
        'Restore it, or set GANTRY_HOME to another directory to start with an empty database.',
    );
  }
  return ensureSecret(file);
}

/** Returns the server that already runs on this data directory, after a login has succeeded. */
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
      const reply = await login(urlAt(server.port));
      if (reply === 'refused') {
        throw new StartError(`The server of ${cluster.data} does not accept the home's password.`);
      }
      return reply === 'welcome' ? server : undefined;
    },
  });
  if (result === undefined) {
    throw new StartError(`The server of ${cluster.data} runs but does not reply.`);
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
    const result = await launchPostmaster({
      ...{ cluster, files, port, logFile },
      durable: options.durable ?? true,
    });
    if (typeof result === 'object') return result;
    if (Date.now() > end) {
      throw new StartError(
        result === 'survivors'
          ? `Processes of a killed PostgreSQL still use ${cluster.data}. Stop them and start again.`
          : `PostgreSQL could not listen on port ${port} of 127.0.0.1.`,
      );
    }
    // Children of a killed server exit after their statement. A port is free when its user exits.
    await delay(200);
  }
}

/** Returns a port that is free now. If another program takes it first, the next one is tried. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address && typeof address === 'object') resolve(address.port);
        else reject(new Error('BUG: a listening server has no address'));
      });
    });
  });
}
