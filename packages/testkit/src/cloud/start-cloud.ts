import { createLog } from '@gantry/daemon/log';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect, type Sql } from '@gantry/db/connect';
import { type Scheduler, type SchedulerOptions, startScheduler } from '@gantry/scheduler/scheduler';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SECRET_KEY, startTestApi, type TestApi } from '../api/test-api.ts';
import { PATIENT_CONNECT_S } from '../database/test-database.ts';
import { attachHandDrivenHost, type HandDrivenHost } from '../hosts/hand-driven-host.ts';
import { addHost } from '../make/hosts.ts';
import { placeVm } from '../make/placements.ts';
import { makeTenant, makeUser, type TestTenant } from '../make/tenants.ts';
import { type HostOptions, simulatedHosts } from './simulated-hosts.ts';
import { type TenantCalls, tenantCalls } from './tenant-calls.ts';

/**
 * A whole cloud in one process: PostgreSQL, the api without a socket, and as many schedulers and hosts
 * as a test adds. There are two kinds of hosts:
 *
 * - Simulated hosts have a real agent, which speaks gRPC with TLS to the schedulers.
 * - The reports of hand-driven hosts are written by the test. Without a scheduler nothing happens
 *   unless the test does it.
 */
export type Cloud = TenantCalls & {
  api: TestApi;
  sql: Sql;
  log: ReturnType<typeof createLog>;
  tenant: TestTenant;
  /** The token of an operator. */
  operator: string;
  schedulers: Scheduler[];
  hosts: SimulatedHost[];
  addScheduler(options?: Partial<SchedulerOptions>): Promise<Scheduler>;
  addHost(options?: HostOptions): Promise<SimulatedHost>;
  addHandDrivenHost(options?: {
    sharedStorage?: boolean;
    gpus?: number;
    /** The address at which other hosts reach it. Null: they cannot. */
    underlayAddress?: string | null;
    /** The address from which it reaches storage clusters. Null: it has none. */
    storageAddress?: string | null;
  }): Promise<HandDrivenHost>;
  /** Places a VM on a hand-driven host, with one device of each kind. */
  place(vmId: string, host: HandDrivenHost): Promise<void>;
  /** Creates a VM that runs on a hand-driven host. Returns its id. */
  runVm(host: HandDrivenHost): Promise<string>;
  /** Creates a disk without a scheduler. Returns its id. */
  createDisk(type?: 'persistent-ssd' | 'shared-volume'): Promise<string>;
  /** Settles everything that needs no host. */
  settleWithoutHost(): Promise<void>;
  stop(): Promise<void>;
};

/** A process that did not run for this long cannot know which hosts were silent meanwhile. */
const PAUSE_MS = 500;

/** A database that always replies, and clocks that agree. Only pauses of this process interrupt it. */
function watchPauses(): SchedulerOptions['watch'] & { stop(): void } {
  let ranAt = performance.now();
  let steadySince = Number.NEGATIVE_INFINITY;
  const steadyMs = () => {
    const now = performance.now();
    if (now - ranAt > PAUSE_MS) steadySince = now;
    ranAt = now;
    return now - steadySince;
  };
  const ticks = setInterval(steadyMs, PAUSE_MS / 5);
  return {
    ...{ nowMs: () => Date.now(), clockProblem: () => null, steadyMs },
    stop: () => clearInterval(ticks),
  };
}

export async function startCloud(deps: Parameters<typeof startTestApi>[0] = {}): Promise<Cloud> {
  const api = await startTestApi(deps);
  const { sql } = api;
  const log = createLog({ process: 'test', level: process.env['GANTRY_LOG_LEVEL'] ?? 'silent' });
  const tenant = await makeTenant(api, 'acme');
  await sql`update quotas set max = 100000 where project_id = ${tenant.projectId}`;
  await sql`update organization_quotas set max = 100000 where organization_id = ${tenant.organizationId}`;
  const operator = (await makeUser(api, 'op@gantry.test', { operator: true })).token;
  // Simulated hosts accept any source. Real ones need one that can be fetched.
  await sql`update images set source_url = 'file:///simulated', sha256 = repeat('0', 64)`;
  const calls = tenantCalls(api, tenant);
  const schedulers: Scheduler[] = [];
  const hosts: SimulatedHost[] = [];
  const pools: Sql[] = [];
  const watch = watchPauses();

  const addScheduler: Cloud['addScheduler'] = async (options = {}) => {
    const pool = connect({
      ...{ url: api.databaseUrl, name: 'gantry-scheduler', maxConnections: 8 },
      connectLimitS: PATIENT_CONNECT_S,
    });
    pools.push(pool);
    const scheduler = await startScheduler({
      sql: pool,
      watch,
      log,
      secrets: createSecrets(SECRET_KEY),
      fleet: { host: '127.0.0.1', port: 0, names: ['localhost', '127.0.0.1'] },
      certificateTtlMs: 3_600_000,
      leaseTtlMs: 1_000,
      unreachableAfterMs: 2_000,
      pollMs: 20,
      ...options,
    });
    schedulers.push(scheduler);
    return scheduler;
  };

  const place: Cloud['place'] = (vmId, host) =>
    placeVm(sql, { vmId, hostId: host.id, devices: 'one-of-each-kind' });

  return {
    ...calls,
    api,
    sql,
    log,
    tenant,
    operator,
    schedulers,
    hosts,
    addScheduler,
    addHost: simulatedHosts({ api, log, operator, schedulers, hosts }),
    async addHandDrivenHost({
      sharedStorage = false,
      gpus = 4,
      underlayAddress = null,
      storageAddress = null,
    } = {}) {
      const { id } = await addHost(sql, { gpus, nodes: 1, sharedStorage });
      await sql`update hosts set underlay_address = ${underlayAddress}, storage_address = ${storageAddress}
        where id = ${id}`;
      return await attachHandDrivenHost(sql, id);
    },
    place,
    async runVm(host) {
      const { id } = await calls.createVm();
      await place(id, host);
      await host.obey();
      return id;
    },
    async createDisk(type) {
      const { id } = await calls.requestDisk(type);
      await settleWithoutHost(sql);
      return id;
    },
    settleWithoutHost: () => settleWithoutHost(sql),
    async stop() {
      await Promise.all(hosts.map((host) => host.stop()));
      await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
      await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })));
      watch.stop();
      await api.stop();
    },
  };
}
