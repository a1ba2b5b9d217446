import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startAgent } from '@gantry/agent/agent';
import type { HostDriver } from '@gantry/agent/host-driver';
import { channelCredentials } from '@gantry/agent/identity/identity';
import { ledgerFile } from '@gantry/agent/ledger/ledger-file';
import { grpcLink } from '@gantry/agent/link/grpc-link';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect, type Sql } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { loadFleet } from '@gantry/proto/load';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { testLog } from '@gantry/testkit/real-host/real-host-driver';
import { benchHome } from '../fleet/home.ts';
import type { HostsInput } from '../fleet/hosts.ts';
import { makeMembers } from '../fleet/members.ts';
import { startBenchProcess } from '../fleet/process.ts';
import { makeBenchProject, VM } from '../subject.ts';

/** A database, an api, a scheduler, and the agent of their only host in this process. */
export type NetFleet = {
  sql: Sql;
  projectId: string;
  ask<T>(method: string, path: string, body?: object): Promise<T>;
  stop(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../../..');
const bundle = (name: string) => path.join(root, 'packages', name, 'dist/main.mjs');
const LIMIT_MS = 240_000;

export async function startNetFleet(driver: HostDriver): Promise<NetFleet> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return { ...(await build(driver, endings)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(driver: HostDriver, endings: (() => Promise<void>)[]) {
  const home = benchHome('net');
  endings.push(() => removeHome(home));
  const { databaseUrl, ...postgres } = await startEmbeddedPostgres({ home });
  endings.push(() => postgres.stop());
  const sql = connect({ url: databaseUrl, name: 'bench', maxConnections: 2, statementLimitMs: 0 });
  endings.push(() => sql.end({ timeout: 5 }));
  const { secretKey, fleetKey, projectId, accessKey } = await makeBenchProject({
    ...{ root, sql, databaseUrl, vms: 0 },
  });
  // A type that any number of VMs can have.
  await sql`update vm_types set cpu_cores = 1, memory_gb = 1, gpu_count = 0, disk_count = 0, disk_gb = 0
    where name = ${VM.type}`;
  // It is never downloaded, because disks are simulated.
  await sql`update images set source_url = 'https://images.test/image.raw', sha256 = ${'0'.repeat(64)}
    where name = ${VM.image}`;
  const start = async (name: string) => {
    const env = {
      ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: secretKey },
      GANTRY_FLEET_KEY: fleetKey,
      ...{ GANTRY_PORT: '0', GANTRY_FLEET_PORT: '0' },
    };
    const { ready, stop } = await startBenchProcess({ name, args: [bundle(name)], env });
    endings.push(stop);
    return ready;
  };
  const scheduler = await start('scheduler');
  const api = await start('api');
  const [file = ''] = await makeMembers({
    ...{ sql, secrets: createSecrets(fleetKey), location: VM.location, count: 1 },
    ...{ directory: home, processes: 1 },
  });
  const { caPem, hosts }: HostsInput = JSON.parse(readFileSync(file, 'utf8'));
  const [identity] = hosts;
  if (!identity) throw new Error('BUG: no host was made');
  const agent = await startAgent({
    ...{ driver, log: testLog, ledger: ledgerFile(home) },
    connect: grpcLink({
      ...{ fleet: loadFleet(), log: testLog },
      address: () => `localhost:${scheduler['fleet_port']}`,
      credentials: () => channelCredentials({ ...identity, caPem }),
    }),
  });
  endings.push(() => agent.stop());
  const base = `http://127.0.0.1:${api['port']}/v0.1/projects/${projectId}`;
  const ask = async <T>(method: string, where: string, body?: object): Promise<T> => {
    const response = await fetch(`${base}${where}`, {
      method,
      headers: { authorization: `Bearer ${accessKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${where}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  return { sql, projectId, ask };
}

export async function until(signal: AbortSignal, complaint: string, check: () => Promise<boolean>) {
  const limitMs = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > limitMs) throw new Error(complaint);
    await delay(20, undefined, { signal });
  }
}
