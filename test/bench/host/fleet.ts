import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { saveIdentity } from '@gantry/agent/identity/state-files';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect, type Sql } from '@gantry/db/connect';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { benchHome } from '../fleet/home.ts';
import type { HostsInput } from '../fleet/hosts.ts';
import { makeMembers } from '../fleet/members.ts';
import { startBenchProcess } from '../fleet/process.ts';
import { makeBenchProject, VM } from '../subject.ts';
import { AGENT_FLAGS, spawnIn, stopProcess } from './process.ts';

/**
 * A fleet with one real host: a database, an api, a scheduler, and the bundled agent with running
 * VMs. Everything ends with this process, even if it is killed.
 */
export type AgentOfFleet = { agent: ChildProcess; stop(): Promise<void> };

type Wanted = { vms: number; signal: AbortSignal };

const root = path.resolve(import.meta.dirname, '../../..');
const bundle = (name: string) => path.join(root, 'packages', name, 'dist/main.mjs');
const LIMIT_MS = 120_000;

export async function startAgentOfFleet(wanted: Wanted): Promise<AgentOfFleet> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return { agent: await build(wanted, endings), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build({ vms, signal }: Wanted, endings: (() => Promise<void>)[]) {
  const home = benchHome('host');
  endings.push(() => removeHome(home));
  const postgres = await startEmbeddedPostgres({ home });
  endings.push(() => postgres.stop());
  const { databaseUrl } = postgres;
  const sql = connect({ url: databaseUrl, name: 'bench', maxConnections: 2, statementLimitMs: 0 });
  endings.push(() => sql.end({ timeout: 5 }));
  const project = await makeBenchProject({ root, sql, databaseUrl, vms: 0 });
  await offerTinyGuest(sql);
  const start = async (name: string) => {
    const env = {
      ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: project.secretKey },
      GANTRY_FLEET_KEY: project.fleetKey,
      ...{ GANTRY_PORT: '0', GANTRY_FLEET_PORT: '0' },
    };
    const started = await startBenchProcess({ name, args: [bundle(name)], env });
    endings.push(started.stop);
    return started.ready;
  };
  const scheduler = await start('scheduler');
  const api = await start('api');
  const host = await startLibvirtHost('idle');
  endings.push(host.stop);
  const port = Number(scheduler['fleet_port']);
  await host.reachLoopback(port);
  await enroll(sql, { host, home, fleetKey: project.fleetKey });
  signal.throwIfAborted();
  const agent = spawnIn(host, [...AGENT_FLAGS, bundle('agent'), 'run'], {
    ...host.environment,
    GANTRY_SCHEDULERS: `localhost:${port}`,
    GANTRY_SYSFS_ROOT: await writeStandIns(host.directory),
    GANTRY_STAND_IN_DEVICES: '1',
    GANTRY_LOG_LEVEL: 'warn',
  });
  endings.push(() => stopProcess(agent));
  await untilAttached(sql, signal);
  for (let vm = 0; vm < vms; vm += 1) {
    await createVm({ ...project, port: Number(api['port']), name: `idle-${vm}` });
  }
  await untilRunning(sql, { vms, signal });
  return agent;
}

async function createVm(asked: {
  port: number;
  projectId: string;
  accessKey: string;
  name: string;
}): Promise<void> {
  const { port, projectId, accessKey, name } = asked;
  const response = await fetch(`http://127.0.0.1:${port}/v0.1/projects/${projectId}/vms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...VM, name }),
  });
  if (response.status !== 200) throw new Error(`no VM was created: ${await response.text()}`);
}

/** Changes the type of the VMs to one that fits any machine, and their image to the tiny guest. */
async function offerTinyGuest(sql: Sql): Promise<void> {
  const { path: file, sha256 } = await buildTinyGuest({ directory: tinyGuestDirectory });
  await sql`update vm_types set cpu_cores = 1, memory_gb = 1, disk_count = 0, disk_gb = 0
    where name = ${VM.type}`;
  await sql`update images set source_url = ${pathToFileURL(file).href}, sha256 = ${sha256}
    where name = ${VM.image}`;
}

type Member = { host: LibvirtHost; home: string; fleetKey: string };

async function enroll(sql: Sql, { host, home, fleetKey }: Member): Promise<void> {
  await mkdir(home, { recursive: true });
  const [file = ''] = await makeMembers({
    ...{ sql, secrets: createSecrets(fleetKey), location: VM.location, count: 1 },
    ...{ directory: home, processes: 1 },
  });
  const { caPem, hosts } = JSON.parse(readFileSync(file, 'utf8')) as HostsInput;
  for (const { name: _, ...identity } of hosts) {
    await saveIdentity(host.stateDirectory, { ...identity, caPem });
  }
}

/** Waits until the host has reported its inventory, so that VMs can be placed on it. */
async function untilAttached(sql: Sql, signal: AbortSignal): Promise<void> {
  await until(signal, 'the host is not known', async () => {
    const [known] = await sql`select from hosts where inventory is not null`;
    return known !== undefined;
  });
}

async function untilRunning(sql: Sql, { vms, signal }: Wanted): Promise<void> {
  await until(signal, 'the VMs do not run', async () => {
    const running = await sql`select from vms where state = 'STATE_RUNNING'`;
    return running.length === vms;
  });
}

async function until(signal: AbortSignal, complaint: string, check: () => Promise<boolean>) {
  const limitMs = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > limitMs) throw new Error(complaint);
    await delay(200, undefined, { signal });
  }
}
