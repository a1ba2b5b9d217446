import { createLog } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pollChanges } from '../poll-changes.ts';
import { type Placing, startPlacing } from './start-placing.ts';

const log = createLog({ process: 'scheduler', level: 'silent' });
let database: TestDatabase;
let projectId: string;
let running: { stop(): Promise<void> }[];
let pools: Sql[];

beforeEach(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
  running = [];
  pools = [];
});
afterEach(async () => {
  await Promise.all(running.map((placing) => placing.stop()));
  await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
  await database.drop();
});

/** Placing with the poll that a scheduler has. */
function start(options: Partial<Parameters<typeof startPlacing>[0]> = {}): Placing {
  const sql = options.sql ?? otherProcess(database.url);
  pools.push(sql);
  const pollMs = options.pollMs ?? 20;
  const ids = { log, schedulerId: newId() };
  const placing = startPlacing({ ...ids, ttlMs: 2_000, ...options, pollMs, sql });
  const polling = pollChanges({
    ...{ sql, log, pollMs },
    locations: () => placing.locations(),
    onChanges: (changes) => placing.note(changes),
    onGap: () => {},
  });
  running.push(polling, placing);
  return placing;
}

const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });
const placed = async (vmIds: string[]) => {
  const rows = await database.sql`select from vms where placed and id = any(${vmIds}::uuid[])`;
  return rows.length;
};
const ALL = ['eu-north-a', 'us-east-a'];

it('new VMs are placed, and onPlaced gets their hosts', async () => {
  const told: string[] = [];
  start({ onPlaced: (hostIds) => told.push(...hostIds) });
  const hosts = await addHosts(database.sql, 3);
  const vmIds = await addVms(database.sql, 3, { projectId });
  await until(async () => expect(await placed(vmIds)).toBe(3));
  await until(() => expect(told.toSorted()).toEqual(hosts.map(({ id }) => id).toSorted()));
});

it('more VMs than the limit of a run are placed without a wait for the next poll', async () => {
  await addHosts(database.sql, 120, { gpus: 16 });
  const vmIds = await addVms(database.sql, 1_800, { projectId });
  const placing = start({ pollMs: 3_600_000, ttlMs: 3_600_000 });
  // A run that fails, because the machine is slow, is repeated at once.
  const failed = vi
    .spyOn(log, 'error')
    .mockImplementation(() => placing.note({ hosts: [], unplaced: ALL }));
  await until(async () => expect(await placed(vmIds)).toBe(1_800));
  failed.mockRestore();
});

it('each location has one scheduler, and a stopping scheduler releases its locations at once', async () => {
  const first = start({ ttlMs: 3_600_000, renewMs: 50 });
  await until(() => expect(first.locations()).toEqual(ALL));
  const second = start();
  await first.stop();
  await until(() => expect(second.locations()).toEqual(ALL));
  expect(first.locations()).toEqual(ALL);
  const epochs = await database.sql`select epoch::int from leases`;
  // A slow machine lets the short leases of the second one expire, and it acquires them once more.
  for (const { epoch } of epochs) expect(epoch).toBeGreaterThanOrEqual(2);
});

it('a scheduler that dies is replaced within the time to live of the lease', async () => {
  const dying = otherProcess(database.url);
  const first = start({ sql: dying, ttlMs: 2_000 });
  await until(() => expect(first.locations()).toEqual(ALL));
  const second = start({ ttlMs: 2_000 });
  await dying.end({ timeout: 0 });
  const [{ left } = { left: 0 }] = await database.sql<{ left: number }[]>`
    select extract(epoch from max(expires_at) - clock_timestamp())::float8 as left from leases`;
  expect(left).toBeLessThan(2);
  await until(() => expect(second.locations()).toEqual(ALL));
  await addHosts(database.sql, 1);
  const vmIds = await addVms(database.sql, 1, { projectId });
  await until(async () => expect(await placed(vmIds)).toBe(1));
  const [placement] = await database.sql`select epoch::int from placements`;
  // A slow machine lets the lease expire, and it is acquired once more.
  expect(placement?.['epoch']).toBeGreaterThanOrEqual(2);
});

it('a scheduler that lost its lease stops placing and acquires the lease when it is free', async () => {
  const { sql } = database;
  const placing = start();
  await until(() => expect(placing.locations()).toEqual(ALL));
  await sql`update leases set holder = ${newId()}, epoch = epoch + 1, expires_at = now() + interval '1 hour'`;
  await until(() => expect(placing.locations()).toEqual([]));
  await sql`update leases set expires_at = now() - interval '1 second'`;
  await until(() => expect(placing.locations()).toEqual(ALL));
  await addHosts(sql, 1);
  const vmIds = await addVms(sql, 1, { projectId });
  await until(async () => expect(await placed(vmIds)).toBe(1));
  const [placement] = await sql`select epoch::int from placements`;
  expect(placement?.['epoch']).toBeGreaterThanOrEqual(3);
});

it('what is known about the hosts of a location outlives a lease that was lost for a moment', async () => {
  const { sql } = database;
  await addHosts(sql, 1, { gpus: 4 });
  let reads = 0;
  const pool = otherProcess(database.url);
  const counting = new Proxy(pool, {
    get(target, name) {
      // Hosts are read in transactions that only read.
      if (name !== 'begin') return Reflect.get(target, name);
      return (...args: Parameters<typeof pool.begin>) => {
        if (String(args[0]).includes('read only')) reads += 1;
        return pool.begin(...args);
      };
    },
  });
  const placing = start({ sql: counting, writeSql: pool, ttlMs: 6_000 });
  const first = await addVms(sql, 1, { projectId });
  await until(async () => expect(await placed(first)).toBe(1));
  const before = reads;
  await sql`update leases set holder = ${newId()}, epoch = epoch + 1, expires_at = now() + interval '1 hour'`;
  await until(() => expect(placing.locations()).toEqual([]));
  await sql`update leases set expires_at = now() - interval '1 second'`;
  const second = await addVms(sql, 1, { projectId });
  await until(async () => expect(await placed(second)).toBe(1));
  expect(before).toBeGreaterThan(0);
  expect(reads).toBe(before);
});

it('VMs of a location that is added later are placed', async () => {
  const { sql } = database;
  const placing = start();
  await until(() => expect(placing.locations()).toEqual(ALL));
  await sql`insert into locations (name, region, zone) values ('ap-south-b', 'ap-south', 'b')`;
  await until(() => expect(placing.locations()).toEqual(['ap-south-b', ...ALL]));
});

it('the run after a failed run reads everything again', async () => {
  const { sql } = database;
  await addHosts(sql, 2);
  const placing = start();
  await until(() => expect(placing.locations()).toEqual(ALL));
  await sql`alter table placements rename to placements_gone`;
  const vmIds = await addVms(sql, 2, { projectId });
  placing.note({ hosts: [], unplaced: ALL });
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'gantry-other'`;
  await sql`alter table placements_gone rename to placements`;
  await until(async () => expect(await placed(vmIds)).toBe(2));
});

it('the availabilities show what placement can do now in each location', async () => {
  const { sql } = database;
  start();
  const available = async () => {
    const rows = await sql<{ vm_type: string }[]>`
      select vm_type from availabilities where available and location = 'eu-north-a' order by 1`;
    return rows.map(({ vm_type }) => vm_type);
  };
  const rows = async () => (await sql`select from availabilities`).length;
  await until(async () => expect(await rows()).toBe(34));
  expect(await available()).toEqual([]);
  const [host] = await addHosts(sql, 1, { gpus: 4, nodes: 2 });
  await until(async () => expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']));
  await addVms(sql, 1, { projectId, type: 'a40.2x' });
  await until(async () => expect(await available()).toEqual(['a40.1x', 'a40.2x']));
  await sql`update hosts set admin_state = 'cordoned' where id = ${host?.id ?? ''}`;
  await until(async () => expect(await available()).toEqual([]));
  await sql`insert into vm_types (name, description, cpu_cores, cpu_type, memory_gb, memory_type, disk_gb, disk_type, disk_count, gpu_count, gpu_type, network_gbps)
    select 'new.1x', description, cpu_cores, cpu_type, memory_gb, memory_type, 0, disk_type, 0, gpu_count, gpu_type, network_gbps from vm_types where name = 'a40.1x'`;
  await sql`insert into vm_type_locations (vm_type, location) values ('new.1x', 'eu-north-a')`;
  await sql`update hosts set admin_state = 'active'`;
  await until(async () => expect(await available()).toEqual(['a40.1x', 'a40.2x', 'new.1x']));
});

it('a scheduler that may not place releases its leases, and acquires them again later', async () => {
  let mayPlace = true;
  const placing = start({ mayPlace: () => mayPlace });
  await until(() => expect(placing.locations()).toEqual(ALL));
  mayPlace = false;
  await until(() => expect(placing.locations()).toEqual([]));
  const other = start();
  await until(() => expect(other.locations()).toEqual(ALL));
  await other.stop();
  mayPlace = true;
  await until(() => expect(placing.locations()).toEqual(ALL));
});

/** As its heartbeats do. */
async function register(schedulerId: string): Promise<void> {
  await database.sql`insert into schedulers (id, address, last_seen_at)
    values (${schedulerId}, '', now() + interval '1 hour')`;
}

it('schedulers share the locations equally, and VMs are placed in all of them', async () => {
  const { sql } = database;
  for (const name of ['c', 'd', 'e', 'f'])
    await sql`insert into locations (name, region, zone) values (${`us-east-${name}`}, 'us-east', ${name})`;
  const ids = [newId(), newId(), newId()];
  for (const id of ids) await register(id);
  const [first, ...others] = ids.map((schedulerId) => ({ schedulerId, ttlMs: 2_000 }));
  const placings = [start(first)];
  await until(() => expect(placings[0]?.locations()).toHaveLength(6));
  placings.push(...others.map((options) => start(options)));
  await until(() => expect(placings.map((one) => one.locations().length)).toEqual([2, 2, 2]));
  const held = placings.flatMap((one) => one.locations());
  expect(new Set(held).size).toBe(6);
  for (const location of held) await addHosts(sql, 1, { location });
  const vmIds: string[] = [];
  for (const location of held) vmIds.push(...(await addVms(sql, 1, { projectId, location })));
  await until(async () => expect(await placed(vmIds)).toBe(6));
});

it('a lease that a silent scheduler wants goes back to its holder', async () => {
  const { sql } = database;
  const schedulerId = newId();
  const placing = start({ schedulerId, ttlMs: 6_000, renewMs: 50 });
  await until(() => expect(placing.locations()).toEqual(ALL));
  await sql`update leases set wanted_by = ${newId()} where location = 'eu-north-a'`;
  const leaseNow = async () => {
    const [lease] = await sql`
      select holder, epoch::int, wanted_by from leases where location = 'eu-north-a'`;
    return lease;
  };
  await until(async () => expect((await leaseNow())?.['wanted_by']).toBeNull());
  expect(await leaseNow()).toMatchObject({ holder: schedulerId, epoch: 2 });
  await until(() => expect(placing.locations()).toEqual(ALL));
  await addHosts(sql, 1);
  const vmIds = await addVms(sql, 1, { projectId });
  await until(async () => expect(await placed(vmIds)).toBe(1));
});
