import { spawn } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { readIfThere } from '../home/home.ts';
import { readTail } from '../processes/log-file.ts';
import {
  identifyProcess,
  isListed,
  readArguments,
  sendSignal,
} from '../processes/process-identity.ts';
import type { Cluster } from './cluster-directory.ts';
import { serverEnvironment } from './init-cluster.ts';

/**
 * The server is found through its postmaster.pid and not through a child handle, because it has its
 * own session and may outlive the process that started it. The file contains the process id, the
 * port and the state. The process counts only if its arguments show that it is a PostgreSQL server
 * on this data directory.
 */
export type Postmaster = { pid: number; port: number; status: string };

/** Recovery replays at most max_wal_size (1 GB by default): seconds, or longer on a slow disk. */
const READY_LIMIT_MS = 120_000;
/** A fast shutdown writes a checkpoint. After this time the server hangs and is killed. */
const FAST_STOP_LIMIT_MS = 20_000;
/** After SIGQUIT the postmaster kills its remaining children within 5 s. */
const HARD_STOP_LIMIT_MS = 15_000;

export async function observePostmaster(data: string): Promise<Postmaster | undefined> {
  const file = await readPidFile(data);
  if (!file || (await identifyProcess(file.pid)) === undefined) return undefined;
  const [program = '', ...args] = await readArguments(file.pid);
  if (path.basename(program) !== 'postgres' || !args.includes(data)) return undefined;
  return file;
}

/**
 * Removes a pid file that names another program or a zombie, because PostgreSQL would not start. If
 * the process does not exist, the file stays: PostgreSQL uses it to find remaining child processes.
 */
export async function removeStalePidFile(data: string): Promise<void> {
  const file = await readPidFile(data);
  if (!file || (await observePostmaster(data)) || !isListed(file.pid)) return;
  await rm(path.join(data, 'postmaster.pid'), { force: true });
}

async function readPidFile(data: string): Promise<Postmaster | undefined> {
  const text = await readIfThere(path.join(data, 'postmaster.pid'));
  if (text === undefined) return undefined;
  // The lines are: pid, data directory, start time, port, socket directory, address, shared memory,
  // state.
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, port, status: (lines[7] ?? 'starting').trim() };
}

type Launch = {
  cluster: Cluster;
  files: string;
  port: number;
  logFile: string;
  /** Whether what was committed has to survive a crash of the machine. */
  durable: boolean;
};
export type LaunchResult = Postmaster | 'port taken' | 'survivors';

export async function launchPostmaster(launch: Launch): Promise<LaunchResult> {
  const { cluster, logFile } = launch;
  const log = await open(logFile, 'a', 0o600);
  try {
    const { size } = await log.stat();
    const child = spawn(path.join(launch.files, 'bin/postgres'), serverArguments(launch), {
      ...cluster.user,
      cwd: cluster.data,
      env: serverEnvironment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    let ended = false;
    child.once('exit', () => {
      ended = true;
    });
    child.once('error', () => {
      ended = true;
    });
    child.unref();
    const outcome = await waitUntil<Postmaster | 'ended'>({
      limitMs: READY_LIMIT_MS,
      condition: async () => {
        if (ended) return 'ended';
        const file = await readPidFile(cluster.data);
        return file?.pid === child.pid && file?.status === 'ready' ? file : undefined;
      },
    });
    if (outcome && outcome !== 'ended') return outcome;
    if (!outcome && child.pid) sendSignal(child.pid, 'SIGQUIT');
    return explainFailure(logFile, size);
  } finally {
    await log.close();
  }
}

function serverArguments({ cluster, port, durable }: Launch): string[] {
  const sync = durable ? 'on' : 'off';
  const settings = {
    port: `${port}`,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: sync,
    synchronous_commit: sync,
    full_page_writes: sync,
    // Everything goes to the log file. log-file.ts limits its size.
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', cluster.data, ...flags];
}

/** PostgreSQL writes its reasons only to the log. LC_ALL=C keeps the text the same everywhere. */
async function explainFailure(logFile: string, from: number): Promise<LaunchResult> {
  const said = await readTail(logFile, { from });
  if (said.includes('could not create any TCP/IP sockets')) return 'port taken';
  if (said.includes('is still in use')) return 'survivors';
  throw new StartError(`PostgreSQL did not start. Its log:\n${said.trim()}`);
}

/** Stops the server of this data directory. Returns when it has exited. */
export async function stopPostmaster(data: string): Promise<void> {
  const server = await observePostmaster(data);
  if (!server) return;
  sendSignal(server.pid, 'SIGINT');
  if (await waitUntilGone(data, server.pid, FAST_STOP_LIMIT_MS)) return;
  sendSignal(server.pid, 'SIGQUIT');
  if (await waitUntilGone(data, server.pid, HARD_STOP_LIMIT_MS)) return;
  throw new Error(`PostgreSQL (process ${server.pid}) does not stop.`);
}

async function waitUntilGone(data: string, pid: number, limitMs: number): Promise<boolean> {
  const gone = await waitUntil({
    limitMs,
    condition: async () => {
      const running = await observePostmaster(data);
      const ended = (await identifyProcess(pid)) === undefined;
      return running === undefined && ended ? true : undefined;
    },
  });
  return gone === true;
}
