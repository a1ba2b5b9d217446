import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { baseUrlOf, requireFreePort, type Settings } from './base/settings.ts';
import { StartError } from './base/start-error.ts';
import {
  bootstrap,
  type Connection,
  connectionFile,
  isAccepted,
  readConnection,
  writeConnection,
} from './home/credentials.ts';
import { ensureDemoKey } from './home/demo-key.ts';
import { ensureSecret, type Home, openHome } from './home/home.ts';
import { type HomeLock, lockHome } from './home/home-lock.ts';
import { type Database, keepDatabase } from './postgres/database.ts';
import { type RunningChild, startChild } from './processes/child-process.ts';
import { boundLog } from './processes/log-file.ts';
import { prepareRealHost, type RealHost, requireRealHost } from './real/real-host.ts';
import { renderRealWelcome } from './real/render-real-welcome.ts';
import { untilAvailable } from './until-available.ts';
import { renderWelcome } from './welcome.ts';

/**
 * Starts everything on one machine with one command: the database, the api, the scheduler, a
 * simulated fleet and, with --real, the agent of this machine. Each is a separate process, as in
 * production. Each started process is added to `running` at once, so that a stop during the start
 * finds it.
 */
export type Running = { database?: Database; children: RunningChild[]; realHost?: RealHost };

type Launch = {
  root: string;
  settings: Settings;
  running: Running;
  stopping: AbortController;
  say: (text: string) => void;
  fail: (error: unknown) => void;
};

const LOGS = ['api.log', 'scheduler.log', 'fleet.log', 'agent.log', 'postgres.log'];
/** The launcher has read these; a file would override the variable that it passes on. */
const NO_SECRET_FILES = {
  DATABASE_URL_FILE: undefined,
  GANTRY_SECRET_KEY_FILE: undefined,
  GANTRY_FLEET_KEY: undefined,
  GANTRY_FLEET_KEY_FILE: undefined,
  CREDENTIALS_DIRECTORY: undefined,
};
const BOUND_LOGS_EVERY_MS = 60_000;

export async function launch({ root, settings, running, stopping, say, fail }: Launch) {
  if (settings.real) await requireRealHost(settings);
  const home = await openHome(settings.homeDirectory);
  const lock = await lockHome(home);
  if (settings.port !== 0) await requireFreePort(settings);
  const secretKey = settings.secretKey ?? (await ensureSecret(home.file('secret-key')));
  const line = (text: string) => say(`${text}\n`);

  if (settings.real) running.realHost = await prepareRealHost({ root, home, settings, say: line });
  if (!settings.databaseUrl) running.database = await keepDatabase({ home, say: line, fail });
  stopping.signal.throwIfAborted();
  const environment = {
    // A receiver of webhooks may be on this machine.
    GANTRY_WEBHOOK_NETWORKS: 'any',
    GANTRY_IMAGE_NETWORKS: 'any',
    GANTRY_IMAGE_STORE_DIRECTORY: await ensureDirectory(home.file('images')),
    GANTRY_IMAGE_UPLOADS_DIRECTORY: await ensureDirectory(home.file('uploads')),
    ...process.env,
    DATABASE_URL: settings.databaseUrl ?? running.database?.url,
    GANTRY_SECRET_KEY: secretKey,
    ...NO_SECRET_FILES,
  };
  const place = { root, home, settings, environment, running, signal: stopping.signal, line };
  const connection = await connect(place, lock);
  const schedulerPort = await startScheduler(place);
  if (settings.simulatedHosts) await startFleet(place, { connection, schedulerPort });
  const host = { ...place, environment: withoutSecrets(environment), connection, schedulerPort };
  const real = await running.realHost?.start(host);
  if (settings.simulatedHosts || real) await untilAvailable(connection, stopping.signal);
  keepLogsShort(home, line);

  const key = await ensureDemoKey(home);
  const sshPublicKey = key.publicLine;
  say(renderWelcome({ connection, connectionFile: connectionFile(home), sshPublicKey }));
  if (real) say(renderRealWelcome({ connection, key, ...real }));
}

async function ensureDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function keepLogsShort(home: Home, line: (text: string) => void): void {
  const shorten = async () => {
    for (const log of LOGS) {
      try {
        await boundLog(home.file(log));
      } catch (error) {
        line(`${home.file(log)} could not be truncated: ${error}`);
      }
    }
  };
  setInterval(() => void shorten(), BOUND_LOGS_EVERY_MS).unref();
}

type Place = {
  root: string;
  home: Home;
  settings: Settings;
  environment: NodeJS.ProcessEnv;
  running: Running;
  signal: AbortSignal;
  line: (text: string) => void;
};

/** Starts the api and makes sure that it accepts the access key in connection.json. */
async function connect(place: Place, lock: HomeLock): Promise<Connection> {
  const { home, signal } = place;
  const setUp = () =>
    bootstrap({
      script: path.join(place.root, 'packages/api/dist/bootstrap.mjs'),
      environment: place.environment,
    });
  const kept = await readConnection(home);
  const known = kept ?? (await setUp());
  signal.throwIfAborted();
  const baseUrl = await startApi(place);
  await lock.announce(baseUrl);
  let connection: Connection = { ...known, base_url: baseUrl };
  if (!(await isAccepted(baseUrl, connection.access_key))) {
    connection = { ...(await setUp()), base_url: baseUrl };
    if (!(await isAccepted(baseUrl, connection.access_key))) {
      throw new StartError('The API does not accept the access key that it has just issued.');
    }
  }
  await writeConnection(home, connection);
  return connection;
}

async function startApi({ root, home, settings, environment, running, signal, line }: Place) {
  let port = settings.port;
  const spec = {
    name: 'api',
    script: path.join(root, 'packages/api/dist/main.mjs'),
    logFile: home.file('api.log'),
    environment: () => ({ ...environment, GANTRY_HOST: settings.host, GANTRY_PORT: `${port}` }),
    say: line,
  };
  const api = await startChild(spec, signal);
  running.children.push(api);
  const { port: taken } = api.ready;
  if (typeof taken !== 'number') throw new StartError('BUG: the api did not report its port.');
  port = taken;
  return baseUrlOf(settings.host, port);
}

async function startScheduler({ root, home, environment, running, signal, line }: Place) {
  const { GANTRY_PORT: _, ...shared } = environment as Record<string, string | undefined>;
  // Only the scheduler gets it, so that the api cannot open the key of the fleet's authority.
  const fleetKey = await ensureSecret(home.file('fleet-key'));
  let port = 0;
  const spec = {
    name: 'scheduler',
    script: path.join(root, 'packages/scheduler/dist/main.mjs'),
    logFile: home.file('scheduler.log'),
    environment: () => ({
      GANTRY_FLEET_PORT: `${port}`,
      ...shared,
      GANTRY_FLEET_KEY: fleetKey,
    }),
    say: line,
  };
  const scheduler = await startChild(spec, signal);
  running.children.push(scheduler);
  const { fleet_port: taken } = scheduler.ready;
  if (typeof taken !== 'number')
    throw new StartError('BUG: the scheduler did not report its port.');
  port = taken;
  return taken;
}

type Simulated = { connection: Connection; schedulerPort: number };

async function startFleet(place: Place, { connection, schedulerPort }: Simulated) {
  const { root, home, settings, environment, running, signal, line } = place;
  const spec = {
    name: 'fleet',
    script: path.join(root, 'packages/simulator/dist/main.mjs'),
    logFile: home.file('fleet.log'),
    environment: () => ({
      ...withoutSecrets(environment),
      GANTRY_API_URL: connection.base_url,
      GANTRY_OPERATOR_EMAIL: connection.operator_email,
      GANTRY_OPERATOR_PASSWORD: connection.operator_password,
      GANTRY_SCHEDULERS: `localhost:${schedulerPort}`,
      GANTRY_FLEET_DIRECTORY: home.file('fleet'),
      GANTRY_FLEET_HOSTS: settings.simulatedHosts,
    }),
    say: line,
  };
  running.children.push(await startChild(spec, signal));
}

/** Only the control plane may have the database's URL and the secret key. */
function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, GANTRY_SECRET_KEY: __, ...rest } = environment;
  return rest;
}
