import { connect, type Sql } from '@gantry/db/connect';
import type { Scheduler } from '@gantry/scheduler/scheduler';
import { INSTANT } from '@gantry/simulator/driver/behaviour';
import { lookAtHost } from '@gantry/simulator/fleet/host-sight';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import type { HostOptions } from '@gantry/testkit/cloud/simulated-hosts';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { disagreements, watchClaims } from '@gantry/testkit/faults/invariants/agreement';
import { brokenRules, type WatchedCloud } from '@gantry/testkit/faults/invariants/one-owner';
import { expect, vi } from 'vitest';
import { openUnsteadyDatabase, type UnsteadyDatabase } from './unsteady-database.ts';
import { UnsteadyLink } from './unsteady-link.ts';

/**
 * A small cloud in which everything can fail: two locations, three hosts with few GPUs, two
 * schedulers. It can be repaired and emptied at any time.
 */
export type ChaosHost = {
  host: SimulatedHost;
  link: UnsteadyLink;
  options: HostOptions;
  alive: boolean;
  revoked: boolean;
};
type ChaosScheduler = { scheduler: Scheduler; sql: Sql; database: UnsteadyDatabase };

/** Long enough for two busy cores. Normally it takes seconds. */
const PATIENCE = { timeout: 180_000, interval: 50 };
/** Longer than every lock timeout. */
const REPLY_MS = 30_000;
/** Of a request that gets 503. */
const MOST_REPEATS = 2;
const TIMINGS = {
  retryMs: [10, 40],
  failedMs: 300,
  shutdownMs: 300,
  reportMs: 5,
  serialLogMs: 200,
};
const HOSTS: HostOptions[] = [
  { location: 'eu-north-a', sharedStorage: true, gpus: 2 },
  { location: 'eu-north-a', sharedStorage: true, gpus: 1 },
  { location: 'us-east-a', sharedStorage: false, gpus: 2 },
];

export class World {
  readonly cloud: Cloud;
  readonly hosts: ChaosHost[] = [];
  readonly schedulers: ChaosScheduler[] = [];

  private constructor(cloud: Cloud) {
    this.cloud = cloud;
  }

  static async start(): Promise<World> {
    const world = new World(await startCloud());
    await watchClaims(world.sql);
    for (let i = 0; i < 2; i += 1) await world.addScheduler();
    for (const options of HOSTS) await world.addHost(options);
    for (const [location, block] of [
      ['eu-north-a', '203.0.113.0/31'],
      ['us-east-a', '198.51.100.0/31'],
    ])
      await world.operate('POST', '/admin/public-addresses', { location, cidr: block });
    return world;
  }

  get sql(): Sql {
    return this.cloud.sql;
  }

  /** As an operator. */
  async operate(method: string, path: string, body?: unknown): Promise<number> {
    const { operator: bearer, api } = this.cloud;
    const call = () => api.call(method, path, { bearer, ...(body ? { body } : {}) });
    return await this.#replied(`${method} ${path}`, call);
  }

  /** As the tenant. */
  async ask(method: string, path: string, body?: unknown): Promise<number> {
    return await this.#replied(`${method} ${path}`, () => this.cloud.call(method, path, body));
  }

  /**
   * A request may be refused, but it always gets a complete reply, even if other parts are stopped. A scheduler that was
   * stopped in a transaction may have locked what the request needs. On a slow machine the request may give up before
   * the database ends this transaction, and is then repeated, as clients repeat it.
   */
  async #replied(request: string, call: () => ReturnType<Cloud['call']>): Promise<number> {
    for (let repeats = 0; ; repeats += 1) {
      const { status, body } = await this.#inTime(request, call());
      if (status === 503 && repeats < MOST_REPEATS) continue;
      if (status >= 500) throw new Error(`${request}: ${JSON.stringify(body)}`);
      return status;
    }
  }

  async #inTime<T>(request: string, reply: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${request} got no reply`)), REPLY_MS);
    });
    return await Promise.race([reply, late]).finally(() => clearTimeout(timer));
  }

  async addScheduler(): Promise<void> {
    const database = await openUnsteadyDatabase(this.cloud.api.databaseUrl);
    const sql = connect({ url: database.url, name: 'gantry-scheduler', maxConnections: 8 });
    const scheduler = await this.cloud.addScheduler({ sql });
    this.schedulers.push({ scheduler, sql, database });
  }

  /** Acts as if the process were killed: its connections end, and it releases nothing. */
  async killScheduler({ scheduler, sql, database }: ChaosScheduler): Promise<void> {
    remove(this.schedulers, (one) => one.scheduler === scheduler);
    remove(this.cloud.schedulers, (one) => one === scheduler);
    database.close();
    await Promise.all([sql.end({ timeout: 0 }), scheduler.stop().catch(() => {})]);
  }

  async addHost(options: HostOptions): Promise<void> {
    const link = new UnsteadyLink();
    const host = await this.cloud.addHost({
      ...options,
      ...{ timings: TIMINGS, heartbeatMs: 200, wrapLink: (inner) => link.wrap(inner) },
    });
    this.hosts.push({ host, link, options, alive: true, revoked: false });
  }

  killAgent(one: ChaosHost): void {
    if (one.alive) one.host.kill();
    one.alive = false;
  }

  async startAgent(one: ChaosHost): Promise<void> {
    if (!one.alive) await one.host.start();
    one.alive = true;
  }

  /** The host loses its power for good, an operator fences it, and another host replaces it. */
  async replaceHost(one: ChaosHost): Promise<void> {
    const { host, options } = one;
    this.killAgent(one);
    host.driver.reboot();
    remove(this.hosts, (other) => other === one);
    remove(this.cloud.hosts, (other) => other === host);
    const [row] = await this.sql<{ name: string }[]>`select name from hosts where id = ${host.id}`;
    const confirm = row?.name ?? '';
    await vi.waitFor(
      async () =>
        expect(await this.operate('POST', `/admin/hosts/${host.id}:fence`, { confirm })).toBe(200),
      PATIENCE,
    );
    if (this.schedulers.length === 0) await this.addScheduler();
    await this.addHost(options);
  }

  get #watched(): WatchedCloud {
    return { sql: this.sql, look: async () => this.cloud.hosts.map(lookAtHost) };
  }

  async check(): Promise<void> {
    const problems = await brokenRules(this.#watched);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  /**
   * Repairs everything: all processes run, nothing fails, and operators undo their restrictions.
   */
  async heal(): Promise<void> {
    for (const { database } of this.schedulers) database.resume();
    while (this.schedulers.length < 2) await this.addScheduler();
    for (const one of [...this.hosts]) {
      const { driver } = one.host;
      driver.faults.clear();
      driver.behave(INSTANT);
      if (one.revoked) await this.replaceHost(one);
    }
    for (const one of this.hosts) {
      await this.startAgent(one);
      one.link.heal();
      await this.operate('POST', `/admin/hosts/${one.host.id}:uncordon`);
      for (const { id, address } of await this.devicesOf(one)) {
        one.host.driver.devices.spoil(address, null);
        await this.operate('POST', `/admin/devices/${id}:release`);
      }
    }
    // What a repaired card needs. Operators have no route for this yet.
    await this.sql`update devices set state = 'ready' where state = 'quarantined'`;
  }

  /** Waits until all operations have ended and the database and the hosts agree. */
  async settle(): Promise<void> {
    await vi.waitFor(async () => {
      const problems = await disagreements(this.#watched);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    }, PATIENCE);
  }

  /** Removes everything as the tenant. This must work from every state. */
  async empty(): Promise<void> {
    for (const id of await this.vmIds()) await this.ask('DELETE', `/vms/${id}`);
    await this.settle();
    for (const id of await this.diskIds()) await this.ask('DELETE', `/disks/${id}`);
    for (const id of await this.ruleIds()) await this.ask('DELETE', `/vpc/firewall-rules/${id}`);
    await this.settle();
    const left = await this.sql`select id::text from vms union all select id::text from disks
      union all select device_id::text from device_claims
      union all select network_interface_id::text from address_claims
      union all select resource_id::text from meter_intervals where ended_at is null`;
    expect(left.map(({ id }) => id)).toEqual([]);
  }

  async stop(): Promise<void> {
    const { schedulers } = this;
    for (const { database } of schedulers) database.resume();
    await this.cloud.stop();
    await Promise.all(schedulers.map(({ sql }) => sql.end({ timeout: 1 })));
    for (const { database } of schedulers) database.close();
  }

  async vmIds(): Promise<string[]> {
    return ids(await this.sql`select id from vms order by id`);
  }

  async diskIds(): Promise<string[]> {
    return ids(await this.sql`select id from disks where kind = 'data' order by id`);
  }

  /** The rules that a test created. The default rules of a network stay. */
  async ruleIds(): Promise<string[]> {
    return ids(await this.sql`select id from firewall_rules where name like 'r-%' order by id`);
  }

  async devicesOf({ host }: ChaosHost): Promise<{ id: string; address: string }[]> {
    return await this.sql<{ id: string; address: string }[]>`
      select id, pci_address as address from devices where host_id = ${host.id} order by address`;
  }
}

function ids(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ id }) => String(id));
}

function remove<T>(items: T[], isIt: (item: T) => boolean): void {
  const index = items.findIndex(isIt);
  if (index >= 0) items.splice(index, 1);
}
