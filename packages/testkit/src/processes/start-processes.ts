import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootstrap } from '@gantry/local/home/credentials';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import postgres from 'postgres';
import { expect, vi } from 'vitest';
import { removeHome } from '../database/remove-home.ts';
import { controlOf, type FleetControl } from './fleet-control.ts';
import { type NewLogs, readNewLogs } from './new-logs.ts';

/** The key that only schedulers have. */
const FLEET_KEY = 'a fleet key for tests, which is long enough';

/**
 * A control plane from its bundles: PostgreSQL, apis, schedulers and simulated fleets, each a
 * process with its own port, for tests that kill them. `stop` ends all of them. If the test run is
 * killed, each ends when its channel closes.
 */
export type Processes = {
  sql: postgres.Sql;
  /** The key of a member of the first project, and the login of the operator. */
  credentials: {
    project_id: string;
    access_key: string;
    operator_email: string;
    operator_password: string;
    operator_token(): Promise<string>;
  };
  /** Nothing of this may be in a log. */
  secrets: string[];
  /** What processes of this run have logged since the last call, with the names of the files. */
  newLogs: NewLogs;
  startApi(env?: Environment): Promise<Api>;
  /** With a command, the scheduler runs elsewhere, such as in another network. */
  startScheduler(env?: Environment, command?: Command): Promise<Scheduler>;
  startFleet(options: FleetOptions): Promise<Fleet>;
  /** Starts the agent of an enrolled host with this command. */
  startAgent(options: AgentOptions): Promise<Process>;
  /** What is started from now on comes from these checkouts. */
  use(checkouts: Partial<Checkouts>): void;
  stop(): Promise<void>;
};

export type Process = {
  pid: number;
  /** Everything that it has logged. */
  log(): string;
  isRunning(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** Kills the process and waits until it is gone. */
  kill(): Promise<void>;
};
export type Api = Process & { url: string; metricsPort: number };
export type Scheduler = Process & { id: string; port: number; metricsPort: number };
export type Fleet = Process & FleetControl;
export type Environment = Record<string, string>;
export type FleetOptions = {
  /** Its directory. Another start with the same name is the same hosts after a power failure. */
  name: string;
  hosts: string;
  schedulers: Pick<Scheduler, 'port'>[];
  api: Pick<Api, 'url'>;
  env?: Environment;
};

/** Returns the program and arguments that run a command. */
export type Command = (program: string, ...args: string[]) => [string, ...string[]];

export type AgentOptions = {
  command: Command;
  env: Environment;
};

/** Directories of built checkouts, perhaps of other versions. */
export type Checkouts = { controlPlane: string; hosts: string };

const root = path.resolve(import.meta.dirname, '../../../..');
export const bundle = (name: string, program: string, checkout = root) =>
  path.join(checkout, 'packages', name, 'dist', `${program}.mjs`);
/** Long enough for migrations on a busy machine. */
const READY_LIMIT_MS = 60_000;

/** The database of the processes. `stop` ends it and removes its files. */
export type ProcessesDatabase = { databaseUrl: string; stop(): Promise<void> };
type ProcessesOptions = {
  startDatabase?: (home: string) => Promise<ProcessesDatabase>;
  checkouts?: Checkouts;
  /** How long a process may take to start. The default is enough for a fleet of a few dozen hosts. */
  readyLimitMs?: number;
};

export async function startProcesses(options: ProcessesOptions = {}): Promise<Processes> {
  const { startDatabase = startSingleDatabase, readyLimitMs = READY_LIMIT_MS } = options;
  let checkouts = options.checkouts ?? { controlPlane: root, hosts: root };
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-processes-'));
  const database = await startDatabase(path.join(directory, 'home'));
  const running = new Set<ChildProcess>();
  const sql = postgres(database.databaseUrl, {
    ...{ max: 2, onnotice: () => {} },
    // A test that stops the database does not want to wait for the driver.
    backoff: () => 0.1,
  });
  const shared = {
    ...inherited(),
    DATABASE_URL: database.databaseUrl,
    GANTRY_SECRET_KEY: 'a secret key for tests, long enough',
    GANTRY_METRICS_PORT: '0',
  };
  const node: Command = (program, ...args) => [program, ...args];
  const start = async (name: string, env: Environment, command = node, ...args: string[]) => {
    const log = path.join(directory, `${name}-${running.size}-${Date.now()}.log`);
    const checkout = ['api', 'scheduler'].includes(name) ? checkouts.controlPlane : checkouts.hosts;
    const script = [bundle(name, 'main', checkout), ...args];
    const program = command(process.execPath, '--enable-source-maps', ...script);
    const piped = name === 'simulator';
    return await startProcess({ program, env, log, running, piped, readyLimitMs });
  };
  const stop = async () => {
    await Promise.all([...running].map(killHard));
    await sql.end({ timeout: 5 });
    await database.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const made = await bootstrap({
      script: bundle('api', 'bootstrap', checkouts.controlPlane),
      environment: shared,
    });
    const operator = { email: made.operator_email, password: made.operator_password };
    let apiUrl = '';
    return {
      ...{ sql, stop },
      secrets: [FLEET_KEY, shared.GANTRY_SECRET_KEY, made.access_key, made.operator_password],
      newLogs: readNewLogs(directory),
      credentials: { ...made, operator_token: () => login(apiUrl, operator) },
      async startApi(env = {}) {
        const limits = { GANTRY_RATE_LIMIT: '100000', GANTRY_RATE_BURST: '100000' };
        const started = await start('api', { ...shared, GANTRY_PORT: '0', ...limits, ...env });
        const url = `http://127.0.0.1:${started.ready['port']}`;
        apiUrl = url;
        return { ...started, url, metricsPort: Number(started.ready['metrics_port']) };
      },
      async startScheduler(env = {}, command = node) {
        const own = { GANTRY_FLEET_KEY: FLEET_KEY, GANTRY_FLEET_PORT: '0' };
        const started = await start('scheduler', { ...shared, ...own, ...env }, command);
        const { scheduler_id, fleet_port, metrics_port } = started.ready;
        const ports = { port: Number(fleet_port), metricsPort: Number(metrics_port) };
        return { ...started, id: String(scheduler_id), ...ports };
      },
      async startFleet({ name, hosts, schedulers, api, env = {} }) {
        const started = await start('simulator', {
          ...inherited(),
          GANTRY_API_URL: api.url,
          GANTRY_OPERATOR_EMAIL: operator.email,
          GANTRY_OPERATOR_PASSWORD: operator.password,
          GANTRY_SCHEDULERS: schedulers.map(({ port }) => `localhost:${port}`).join(','),
          GANTRY_FLEET_DIRECTORY: path.join(directory, name),
          GANTRY_FLEET_HOSTS: hosts,
          GANTRY_FLEET_CONTROL: '1',
          ...env,
        });
        const control = controlOf(String(started.ready['control_socket']));
        const names = (await control.hosts()).map(({ name }) => name);
        await untilAttached(sql, names);
        return { ...started, ...control };
      },
      use(others) {
        checkouts = { ...checkouts, ...others };
      },
      startAgent: ({ command, env }) =>
        start('agent', { ...inherited(), GANTRY_METRICS_PORT: '0', ...env }, command, 'run'),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSingleDatabase(home: string): Promise<ProcessesDatabase> {
  const { databaseUrl, stop } = await startEmbeddedPostgres({ home });
  return {
    databaseUrl,
    async stop() {
      await stop();
      await removeHome(home);
    },
  };
}

/** Waits until the host has reported its inventory, so that it accepts VMs. */
async function untilAttached(sql: postgres.Sql, names: string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      const attached = await sql`select from hosts h where name = any(${names}) and state = 'ready'
        and scheduler_id is not null and exists (select from devices where kind = 'gpu' and host_id = h.id)`;
      expect(attached).toHaveLength(names.length);
    },
    { timeout: 30_000, interval: 50 },
  );
}

/** Removes the environment of the test runner. */
export function inherited(): Environment {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !name.startsWith('GANTRY_') && name !== 'DATABASE_URL' && !name.startsWith('VITEST'),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}

type Start = {
  program: [string, ...string[]];
  env: Environment;
  log: string;
  running: Set<ChildProcess>;
  /** Logs through a pipe, as to a journal: a process whose disk is full can still log. */
  piped: boolean;
  readyLimitMs: number;
};

async function startProcess(start: Start) {
  const { env, log, running, piped, readyLimitMs } = start;
  const [file, ...args] = start.program;
  const output = openSync(log, 'a');
  const sink = piped ? 'pipe' : output;
  const child = spawn(file, args, { env, stdio: ['ignore', sink, sink, 'ipc'] });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => writeSync(output, chunk));
  child.once('close', () => closeSync(output));
  running.add(child);
  // A broken channel means that the process has ended, which is detected separately.
  child.on('error', () => {});
  child.once('exit', () => running.delete(child));
  const readLog = () => readFileSync(log, 'utf8');
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${args.join(' ')} ${why}:\n${readLog()}`));
    const limit = setTimeout(() => fail('was not ready in time'), readyLimitMs);
    child.once('close', (code) => fail(`ended with ${code}`));
    child.once('message', (message: { ready: Record<string, unknown> }) => {
      clearTimeout(limit);
      resolve(message.ready);
    });
  });
  return {
    ready,
    pid: child.pid ?? 0,
    log: readLog,
    isRunning: () => running.has(child),
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    kill: () => killHard(child),
  };
}

async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function login(url: string, { email, password }: { email: string; password: string }) {
  const response = await fetch(`${url}/v0.1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', email, password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
