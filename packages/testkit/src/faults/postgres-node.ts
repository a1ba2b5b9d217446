import { execFile, spawn } from 'node:child_process';
import { appendFile, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureSecret, type Home, openHome } from '@gantry/local/home/home';
import { type Cluster, ensureClusterDirectory } from '@gantry/local/postgres/cluster-directory';
import { findFreePort } from '@gantry/local/postgres/embedded-postgres';
import {
  ensureClusterData,
  SUPERUSER,
  serverEnvironment,
} from '@gantry/local/postgres/init-cluster';
import { ensureServerFiles, findInstalledBinaries } from '@gantry/local/postgres/postgres-files';
import { observePostmaster, stopPostmaster } from '@gantry/local/postgres/postmaster';
import { type Guard, startGuard } from '@gantry/local/postgres/postmaster-guard';

/**
 * PostgreSQL servers for tests that kill them: a primary, its replicas and its backups are data
 * directories beside each other. A guard stops a server when the test run dies.
 */
export type PostgresPlace = { home: Home; cluster: Cluster; files: string; password: string };

const DATABASE = 'gantry';
const READY_LIMIT_MS = 60_000;

/** Creates a cluster with an empty data directory in it. */
export async function preparePostgres(directory: string): Promise<PostgresPlace> {
  const home = await openHome(directory);
  const cluster = await ensureClusterDirectory(home);
  const password = await ensureSecret(home.file('postgres-password'));
  const files = await ensureServerFiles(findInstalledBinaries(), cluster.directory);
  await ensureClusterData({ cluster, files, password });
  return { home, cluster, files, password };
}

export function urlAt({ password }: PostgresPlace, port: number, database = DATABASE): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}

/** One server on one data directory. It can be killed and started again on the same port. */
export class PostgresNode {
  readonly data: string;
  readonly #place: PostgresPlace;
  #guard: Guard | null = null;
  #port = 0;
  #pid = 0;

  constructor(place: PostgresPlace, name: string) {
    this.#place = place;
    this.data = path.join(place.cluster.directory, name);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return urlAt(this.#place, this.#port);
  }

  get maintenanceUrl(): string {
    return urlAt(this.#place, this.#port, 'postgres');
  }

  /** Returns when the server accepts connections: as a primary, or as a hot standby. */
  async start(): Promise<void> {
    this.#port ||= await findFreePort();
    const endMs = performance.now() + READY_LIMIT_MS;
    for (;;) {
      const started = await this.#launch(endMs);
      if (started === 'ready') return;
      const said = await this.#lastWords();
      // Children of a killed server end a moment after it.
      const isEarly = said.includes('still in use') || said.includes('already exists');
      if (!isEarly || performance.now() > endMs)
        throw new Error(`PostgreSQL on ${this.data} did not start:\n${said}`);
      await delay(20);
    }
  }

  async isRunning(): Promise<boolean> {
    return (await observePostmaster(this.data)) !== undefined;
  }

  /** Ends the server without any notice, as a crash of its machine does. */
  async kill(): Promise<void> {
    const running = await observePostmaster(this.data);
    if (running) process.kill(running.pid, 'SIGKILL');
    while (running && (await observePostmaster(this.data))) await delay(5);
    await this.#guard?.release();
    this.#guard = null;
  }

  async stop(): Promise<void> {
    await stopPostmaster(this.data);
    await this.#guard?.release();
    this.#guard = null;
  }

  /** Adds settings that are read at the next start. */
  async configure(settings: Record<string, string>): Promise<void> {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    await appendFile(path.join(this.data, 'postgresql.auto.conf'), lines.join(''));
  }

  /** Creates an empty file in the data directory that the server's user owns. */
  async signal(name: string, text = ''): Promise<void> {
    const file = path.join(this.data, name);
    await writeFile(file, text, { mode: 0o600 });
    const { user } = this.#place.cluster;
    if (user) await promisify(execFile)('chown', [`${user.uid}:${user.gid}`, file]);
  }

  async #launch(endMs: number): Promise<'ready' | 'ended'> {
    const { cluster, files, home } = this.#place;
    const log = await open(this.#logFile, 'w', 0o600);
    try {
      const child = spawn(path.join(files, 'bin/postgres'), this.#arguments(), {
        ...cluster.user,
        ...{ cwd: this.data, env: serverEnvironment(), detached: true },
        stdio: ['ignore', log.fd, log.fd],
      });
      let isEnded = false;
      for (const event of ['exit', 'error']) child.once(event, () => (isEnded = true));
      child.unref();
      this.#pid = child.pid ?? 0;
      this.#guard = await startGuard({ home, pid: this.#pid, user: cluster.user });
      while (!isEnded && performance.now() < endMs) {
        const server = await observePostmaster(this.data);
        const isReady = server?.status === 'ready' || server?.status === 'standby';
        if (server?.pid === this.#pid && isReady) return 'ready';
        await delay(10);
      }
      await this.#guard.release();
      this.#guard = null;
      return 'ended';
    } finally {
      await log.close();
    }
  }

  get #logFile(): string {
    return `${this.data}.log`;
  }

  async #lastWords(): Promise<string> {
    return (await readFile(this.#logFile, 'utf8')).slice(-4_000);
  }

  #arguments(): string[] {
    const settings = {
      ...{ port: this.#port, listen_addresses: '127.0.0.1', unix_socket_directories: '' },
      ...{ max_connections: 200, wal_keep_size: '256MB', wal_receiver_status_interval: '1s' },
      ...{ wal_retrieve_retry_interval: '100ms', logging_collector: 'off' },
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return ['-D', this.data, ...flags];
  }
}

/**
 * Copies a data directory, also while its server runs between pg_backup_start and pg_backup_stop.
 * Files that vanish meanwhile are not part of a backup.
 */
export async function copyData(from: string, to: string): Promise<void> {
  try {
    await promisify(execFile)('cp', ['-a', '--reflink=auto', from, to]);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    const lines = (stderr ?? String(error)).trim().split('\n');
    if (!lines.every((line) => line.includes('No such file or directory'))) throw error;
  }
  for (const name of ['postmaster.pid', 'postmaster.opts', 'standby.signal', 'recovery.signal'])
    await rm(path.join(to, name), { force: true });
}
