import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { startOldestDatabase } from '@gantry/testkit/database/postgres-programs';
import { connectClient } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { expect } from 'vitest';
import { runBundle } from '../scenarios/cli/run-bundle.ts';
import { startUnits } from './operated-units.ts';
import { serveCalls, writePrograms } from './stand-in-programs.ts';
import { useHands } from './use-hands.ts';

/**
 * An installation as operators have it: api, scheduler, simulated hosts and PostgreSQL, with keys in files.
 * `systemctl` starts and stops its processes, `journalctl` prints their logs, and `hands` does what people do in
 * the data centre. They are programs in `PATH` that call this world.
 */
export type OperatedWorld = {
  /** The environment of the commands of a page. */
  env: Record<string, string>;
  /** Replaces the paths and addresses of an installation by those of this world. */
  localise(script: string): string;
  stop(): Promise<void>;
};

/** Only ends what hangs: the machine may be busy with other work. */
const READY_LIMIT_MS = 240_000;
/** The VM and the orphans are in the second location, so that hosts of the first can be removed. */
const HOSTS = 'eu-north-a:a40-8=4,us-east-a:a40-8=1';
const FLEET_ENV = {
  ...{ GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20', GANTRY_FLEET_ERASE_MS: '20' },
  // An operator has to have the time to pause a rollout.
  ...{ GANTRY_FLEET_UPGRADE_MS: '500', GANTRY_FLEET_RENEWAL_SPREAD_MS: '0' },
  GANTRY_FLEET_STORAGE_NETWORK: '198.51.100.0/24',
};

export async function startOperatedWorld({
  ceph,
}: {
  ceph?: TestCeph;
} = {}): Promise<OperatedWorld> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-docs-'));
  const inside = (...names: string[]) => path.join(directory, ...names);
  let databaseUrl = '';
  const processes = await startProcesses({
    readyLimitMs: READY_LIMIT_MS,
    async startDatabase(home) {
      const database = await startOldestDatabase(home);
      databaseUrl = database.databaseUrl;
      return database;
    },
  });
  const places = {
    ...{ credentials: inside('etc/credentials'), dropIns: inside('systemd') },
    fleet: inside('fleet'),
  };
  await writeCredentials(places.credentials, processes.secrets, databaseUrl);
  const units = await startUnits(processes, places);
  const startFleet = () =>
    processes.startFleet({
      ...{ name: 'fleet', hosts: HOSTS, schedulers: [units.scheduler], api: units.api },
      env: { ...FLEET_ENV, GANTRY_FLEET_DIRECTORY: inside('fleet') },
    });
  const fleet = await startFleet();
  units.addFleet(fleet, startFleet);
  const client = await connectClient(processes, units.api);
  const hosts = (await fleet.hosts()).map(({ name }) => name).sort();
  const operation = await client.ended(
    await client.createVm({ name: 'train-1', location: 'us-east-a' }),
  );
  expect(operation).toMatchObject({ state: 'SUCCEEDED' });
  const calls = await serveCalls({
    systemctl: ([verb = '', ...names], server) => units.perform(verb, { names, server }),
    journalctl: (args) => units.readLogs(args),
    poweroff: (_, server) => units.order(server, 'power-off'),
    hands: (args) => useHands(args, { units, processes, client, databaseUrl, hosts }),
  });
  const bin = { folder: inside('bin'), fleet: inside('fleet'), home: directory };
  await writePrograms({ ...bin, url: calls.url, credentials: places.credentials });
  const env = {
    ...{
      PATH: `${bin.folder}:${process.env['PATH']}`,
      HOME: directory,
      XDG_CONFIG_HOME: directory,
    },
    ...{ API: units.api.url, TOKEN: await processes.credentials.operator_token() },
    ...(await namesFor(hosts, processes)),
    ...{ VM: 'train-1', OPERATION: operation.operation_id },
    ...{ LOCATION: 'eu-north-a', IMAGE_URL: `${calls.url}/image` },
    ...(ceph && { CEPH_CONF: ceph.configFile }),
  };
  await login(directory, units.api, processes);
  const replaced = {
    ...{ ...addressesOf(units), ...pathsIn(directory), ...clusterOf(ceph) },
    'https://mirror.example.com': calls.url,
  };
  return {
    env,
    localise: (script) =>
      Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), script),
    async stop() {
      calls.stop();
      await processes.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Paths, and the user of the services, which is the one who runs the test. */
const pathsIn = (directory: string) => ({
  '/etc/systemd/system': `${directory}/systemd`,
  ...{ '/etc/gantry': `${directory}/etc`, '/mnt/backups': `${directory}/backups` },
  '/srv/images': `${directory}/images`,
  '-o gantry ': '-o "$(id -un)" ',
});

const addressesOf = ({ api, scheduler }: { api: Api; scheduler: Scheduler }) => ({
  'fleet.example.com:7443': `localhost:${scheduler.port}`,
  // A page does not show the secrets that the command before it has printed.
  '--token … --ca-sha256 …': '$(enrolment)',
  'localhost:8080': new URL(api.url).host,
  'localhost:7480': `localhost:${api.metricsPort}`,
  'localhost:7481': `localhost:${scheduler.metricsPort}`,
});

/** The cluster of the test has one monitor. */
const clusterOf = (ceph: TestCeph | undefined) => ({
  ' --monitor 10.0.0.2:3300 --monitor 10.0.0.3:3300': '',
  ...(ceph && { '10.0.0.1:3300': String(ceph.monitors[0]) }),
});

async function writeCredentials(folder: string, secrets: string[], databaseUrl: string) {
  const [fleetKey = '', secretKey = ''] = secrets;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const credentials = {
    ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: secretKey, GANTRY_FLEET_KEY: fleetKey },
  };
  for (const [name, value] of Object.entries(credentials))
    await writeFile(path.join(folder, name), `${value}\n`);
}

async function login(home: string, api: Api, { credentials }: Processes): Promise<void> {
  const { operator_email, operator_password } = credentials;
  const args = ['login', '--server', api.url, '--email', operator_email];
  const logged = await runBundle(args, { home, input: `${operator_password}\n` });
  expect(logged).toMatchObject({ code: 0 });
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
