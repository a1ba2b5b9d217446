import type { Timings } from '@gantry/agent/base/timings';
import type { Identity } from '@gantry/agent/identity/identity';
import { requestIdentity } from '@gantry/agent/identity/request-certificate';
import type { Connect } from '@gantry/agent/link/link';
import {
  makeTenant,
  makeUser,
  startTestApi,
  type TestApi,
  type TestTenant,
} from '@gantry/api/testing';
import { createLog } from '@gantry/daemon/log';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect, type Sql } from '@gantry/db/connect';
import { readFleetAuthority } from '@gantry/db/queries/hosts/fleet-authorities';
import { loadFleet } from '@gantry/proto/load';
import { type Scheduler, type SchedulerOptions, startScheduler } from '@gantry/scheduler/scheduler';
import type { Behaviour } from '@gantry/simulator/driver/behaviour';
import { DiskStore } from '@gantry/simulator/driver/disk-store';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { inventoryOfHost, simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { MemoryLedger } from '@gantry/simulator/testing/memory-ledger';
import { expect, vi } from 'vitest';

/**
 * A whole cloud in one process: the api without a socket, schedulers and agents over real gRPC with
 * TLS, PostgreSQL, simulated machines. For tests that need to reach into every part of it.
 */
export type Cloud = {
  api: TestApi;
  sql: Sql;
  tenant: TestTenant;
  operator: string;
  schedulers: Scheduler[];
  hosts: SimulatedHost[];
  addScheduler(options?: Partial<SchedulerOptions>): Promise<Scheduler>;
  addHost(options?: HostOptions): Promise<SimulatedHost>;
  /** Calls as the tenant's member, below the project. */
  call(method: string, path: string, body?: unknown): ReturnType<TestApi['call']>;
  stop(): Promise<void>;
};

export type HostOptions = {
  model?: string;
  location?: string;
  behaviour?: Partial<Behaviour>;
  /** Whether its disks can be reached from the other hosts that have this. */
  sharedStorage?: boolean;
  /** As many of its model's GPUs as are not taken out. */
  gpus?: number;
  timings?: Partial<Timings>;
  heartbeatMs?: number;
  wrapLink?: (connect: Connect) => Connect;
};

const SECRET_KEY = 'a secret key for tests, long enough';
const fleet = loadFleet();

export async function startCloud(): Promise<Cloud> {
  const api = await startTestApi();
  const log = createLog({ process: 'test', level: process.env['GANTRY_LOG_LEVEL'] ?? 'silent' });
  const tenant = await makeTenant(api, 'acme');
  const operator = (await makeUser(api, 'op@gantry.test', { operator: true })).token;
  // Simulated machines take any source; real ones need one that can be fetched.
  await api.sql`update images set source_url = 'file:///simulated', sha256 = repeat('0', 64)`;
  const schedulers: Scheduler[] = [];
  const hosts: SimulatedHost[] = [];
  const pools: Sql[] = [];
  const disks = new DiskStore();
  let enrolled = 0;

  const addScheduler = async (options: Partial<SchedulerOptions> = {}) => {
    const sql = connect({ url: api.databaseUrl, name: 'gantry-scheduler', maxConnections: 8 });
    pools.push(sql);
    const scheduler = await startScheduler({
      ...{ sql, log, secrets: createSecrets(SECRET_KEY) },
      fleet: { host: '127.0.0.1', port: 0, names: ['localhost', '127.0.0.1'] },
      ...{ certificateTtlMs: 3_600_000, leaseTtlMs: 1_000, unreachableAfterMs: 2_000, pollMs: 20 },
      ...options,
    });
    schedulers.push(scheduler);
    return scheduler;
  };

  /** Any scheduler that lives: hosts find another when theirs is gone. */
  const address = () => {
    const scheduler = schedulers[Math.floor(Math.random() * schedulers.length)];
    return `localhost:${scheduler?.port ?? 1}`;
  };

  const addHost = async ({
    model = 'a40-8',
    location = 'eu-north-a',
    behaviour = {},
    sharedStorage = true,
    gpus,
    timings = {},
    ...link
  }: HostOptions = {}) => {
    const server = SERVER_MODELS.find(({ name }) => name === model);
    if (!server) throw new Error(`there is no server model ${model}`);
    enrolled += 1;
    const name = `host-${enrolled}`;
    const whole = inventoryOfHost(await simulatedInventory(server), name);
    const inventory = {
      ...{ ...whole, sharedStorage, gpus: whole.gpus.slice(0, gpus) },
      underlayIpv4: `198.18.${Math.floor(enrolled / 250)}.${(enrolled % 250) + 1}`,
    };
    const host = new SimulatedHost({
      ...{ fleet, log, address, timings, ...link },
      driver: new SimulatedHostDriver({
        ...{ inventory, behaviour },
        ...(sharedStorage ? { disks } : {}),
      }),
      ledger: new MemoryLedger(),
      identity: await enrolHost({ location, name }),
    });
    hosts.push(host);
    await host.start();
    await vi.waitFor(
      async () =>
        expect(
          await api.sql`select from devices where kind = 'gpu' and host_id = ${host.id}`,
        ).not.toHaveLength(0),
      { timeout: 30_000 },
    );
    return host;
  };

  const enrolHost = async ({ location, name }: { location: string; name: string }) => {
    const { body } = await api.call('POST', '/admin/join-tokens', {
      bearer: operator,
      body: { location },
    });
    const authority = await readFleetAuthority(api.sql);
    const identity: Identity = await requestIdentity({
      ...{ address: address(), token: body.token, hostname: name },
      caPem: authority?.certificate_pem ?? '',
    });
    return identity;
  };

  return {
    ...{ api, sql: api.sql, tenant, operator, schedulers, hosts, addScheduler, addHost },
    call: (method, path, body) =>
      api.call(method, `/projects/${tenant.projectId}${path}`, { bearer: tenant.accessKey, body }),
    async stop() {
      await Promise.all(hosts.map((host) => host.stop()));
      await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
      await Promise.all(pools.map((sql) => sql.end({ timeout: 5 })));
      await api.stop();
    },
  };
}
