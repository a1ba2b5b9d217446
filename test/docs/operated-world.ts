import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { loseDatabase, startOldestDatabase } from '@gantry/testkit/database/postgres-programs';
import {
  type Api,
  type Fleet,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { expect, vi } from 'vitest';
import { bundle, root, runBundle } from '../scenarios/cli/run-bundle.ts';

/**
 * An installation as operators have it: api, scheduler, simulated hosts and PostgreSQL, with keys in
 * files. `systemctl` starts and stops its processes, and `hands` does what people do in the data centre.
 * Both are programs in `PATH` that call this world.
 */
export type OperatedWorld = {
  /** The environment of the commands of a page. */
  env: Record<string, string>;
  /** Replaces the paths of an installation by those of this world. */
  localise(script: string): string;
  stop(): Promise<void>;
};

type Call = { program: 'systemctl' | 'hands'; args: string[] };
const UNITS = ['gantry-api', 'gantry-scheduler'] as const;
type Unit = (typeof UNITS)[number];

export async function startOperatedWorld(): Promise<OperatedWorld> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-docs-'));
  const inside = (...names: string[]) => path.join(directory, ...names);
  let databaseUrl = '';
  const processes = await startProcesses({
    async startDatabase(home) {
      const database = await startOldestDatabase(home);
      databaseUrl = database.databaseUrl;
      return database;
    },
  });
  const [fleetKey = '', secretKey = ''] = processes.secrets;
  await mkdir(inside('etc/credentials'), { recursive: true, mode: 0o700 });
  const credentials = {
    ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: secretKey, GANTRY_FLEET_KEY: fleetKey },
  };
  for (const [name, value] of Object.entries(credentials))
    await writeFile(inside('etc/credentials', name), `${value}\n`);
  const units = await startUnits(processes, inside('etc/credentials'));
  const fleet = await processes.startFleet({
    ...{
      name: 'fleet',
      hosts: 'eu-north-a:a40-8=4',
      schedulers: [units.scheduler],
      api: units.api,
    },
    env: {
      GANTRY_FLEET_BOOT_MS: '20',
      GANTRY_FLEET_SHUTDOWN_MS: '20',
      GANTRY_FLEET_ERASE_MS: '20',
    },
  });
  const hosts = (await fleet.hosts()).map(({ name }) => name);
  const calls = await serveCalls({
    systemctl: ([verb = '', ...names]) => units.perform(verb, names),
    hands: (args) => useHands(args, { fleet, processes, databaseUrl, hosts }),
  });
  await writePrograms(inside('bin'), { url: calls.url, credentials: inside('etc/credentials') });
  const env = {
    ...{
      PATH: `${inside('bin')}:${process.env['PATH']}`,
      HOME: directory,
      XDG_CONFIG_HOME: directory,
    },
    ...{ API: units.api.url, TOKEN: await processes.credentials.operator_token() },
    ...(await namesFor(hosts, processes)),
    ...{ LOCATION: 'eu-north-a', IMAGE_URL: `${calls.url}/image` },
  };
  const { operator_email, operator_password } = processes.credentials;
  const login = ['login', '--server', units.api.url, '--email', operator_email];
  const logged = await runBundle(login, { home: directory, input: `${operator_password}\n` });
  expect(logged).toMatchObject({ code: 0 });
  return {
    env,
    localise: (script) => script.replaceAll('/etc/gantry', inside('etc')),
    async stop() {
      calls.stop();
      await processes.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Each page that removes or kills hosts has its own. */
async function namesFor(hosts: string[], { sql }: Processes): Promise<Record<string, string>> {
  const [HOST = '', DEAD_HOST = ''] = hosts;
  const rows = await sql<{ kind: string; pci_address: string }[]>`
    select d.kind, d.pci_address from devices d join hosts h on h.id = d.host_id
    where h.name = ${HOST} order by d.pci_address`;
  const at = (wanted: string) => `${HOST}/${rows.find(({ kind }) => kind === wanted)?.pci_address}`;
  return { HOST, DEAD_HOST, GPU: at('gpu'), DRIVE: at('drive') };
}

async function startUnits(processes: Processes, credentialsDirectory: string) {
  const env = { CREDENTIALS_DIRECTORY: credentialsDirectory };
  const api = await processes.startApi(env);
  const scheduler = await processes.startScheduler({ ...env, GANTRY_UNREACHABLE_AFTER_MS: '3000' });
  const running: Record<Unit, Api | Scheduler> = {
    'gantry-api': api,
    'gantry-scheduler': scheduler,
  };
  const start = async (unit: Unit) => {
    if (running[unit].isRunning()) return;
    running[unit] =
      unit === 'gantry-api'
        ? await processes.startApi({ ...env, GANTRY_PORT: new URL(api.url).port })
        : await processes.startScheduler({
            ...{ ...env, GANTRY_UNREACHABLE_AFTER_MS: '3000' },
            GANTRY_FLEET_PORT: String(scheduler.port),
          });
  };
  return {
    ...{ api, scheduler },
    async perform(verb: string, names: string[]) {
      for (const name of names) {
        const unit = UNITS.find((each) => each === name);
        if (!unit) throw new Error(`there is no unit ${name}`);
        if (!['start', 'stop', 'restart'].includes(verb)) throw new Error(`systemctl ${verb}?`);
        if (verb !== 'start') await running[unit].kill();
        if (verb !== 'stop') await start(unit);
      }
    },
  };
}

type Surroundings = { fleet: Fleet; processes: Processes; databaseUrl: string; hosts: string[] };

async function useHands(
  [verb, host = '']: string[],
  { fleet, processes, databaseUrl, hosts }: Surroundings,
): Promise<void> {
  const untilState = (name: string, state: string) =>
    vi.waitFor(
      async () =>
        expect(await processes.sql`select state from hosts where name = ${name}`).toMatchObject([
          { state },
        ]),
      { timeout: 30_000, interval: 50 },
    );
  switch (verb) {
    case 'power-cycle':
      await fleet.order(host, 'reboot');
      return await untilState(host, 'ready');
    case 'power-off':
      return await fleet.order(host, 'power-off');
    case 'second-host-is-dead': {
      const [, dead = ''] = hosts;
      await fleet.order(dead, 'power-off');
      return await untilState(dead, 'unreachable');
    }
    case 'lose-the-database':
      return await loseDatabase(databaseUrl);
    default:
      throw new Error(`hands cannot ${verb}`);
  }
}

async function serveCalls(programs: Record<Call['program'], (args: string[]) => Promise<void>>) {
  const server = createServer(async (request, response) => {
    try {
      if (request.method === 'GET') return void response.end(await readFile(bundle));
      const { program, args } = JSON.parse(await text(request)) as Call;
      await programs[program](args);
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Surrounded = { url: string; credentials: string };

async function writePrograms(folder: string, { url, credentials }: Surrounded): Promise<void> {
  await mkdir(folder, { recursive: true });
  const call = (program: string) => `#!${process.execPath}
const body = JSON.stringify({ program: '${program}', args: process.argv.slice(2) });
fetch('${url}', { method: 'POST', body }).then(async (reply) => {
  if (reply.ok) return;
  console.error(await reply.text());
  process.exitCode = 1;
});
`;
  const programs = {
    ...{ systemctl: call('systemctl'), hands: call('hands') },
    gantry: `#!/bin/sh\nexec ${process.execPath} ${bundle} "$@"\n`,
    'gantry-control-plane': `#!/bin/sh
export CREDENTIALS_DIRECTORY=${credentials}
program=$1
shift
exec ${process.execPath} ${root}/packages/scheduler/dist/$program.mjs "$@"
`,
  };
  for (const [name, content] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), content);
    await chmod(path.join(folder, name), 0o755);
  }
}
