import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer, meanwhile } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Placer, placePending } from './place-pending.ts';

/**
 * More VMs than one transaction accepts. Each transaction gets half of the hosts and fills them.
 */
const [HOSTS, GPUS] = [30, 14];
const VMS = HOSTS * GPUS;

let database: TestDatabase;
let projectId: string;
let placer: Placer;
let hosts: TestHost[];
let vmIds: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());
beforeEach(async () => {
  const { sql } = database;
  hosts = await addHosts(sql, HOSTS, { gpus: GPUS });
  vmIds = await addVms(sql, VMS, { projectId });
  placer = makePlacer(sql, await holdLocation(sql));
});
afterEach(async () => {
  await removeVms(database.sql, vmIds);
  await database.sql`delete from operations`;
  await database.sql`delete from hosts`;
});

/**
 * The number of VMs that each transaction placed, largest first, and the largest number of
 * transactions that placed VMs on one host.
 */
async function writes() {
  const { sql } = database;
  const transactions = await sql<{ vms: number }[]>`
    select count(*)::int as vms from placements group by xmin::text order by vms desc`;
  const [of] = await sql<{ most: number }[]>`
    select max(count)::int as most from (select count(distinct xmin::text) from placements group by host_id) c`;
  return { vms: transactions.map(({ vms }) => vms), mostOfHost: of?.most };
}

it('the VMs of many hosts are committed in several transactions, those of one host in one', async () => {
  expect(await placePending(placer)).toMatchObject({ placed: VMS, failed: 0, more: false });
  expect(await writes()).toEqual({ vms: [VMS / 2, VMS / 2], mostOfHost: 1 });
  // The cache already has their changes.
  expect(await placePending(placer)).toMatchObject({ changed: false });
});

it('a batch with a conflict is decided again and does not hold up the other batches', async () => {
  const { sql } = database;
  const [taken = ''] = hosts[0]?.gpuIds ?? [];
  meanwhile(placer, () => sql`update devices set quarantine_reason = 'x' where id = ${taken}`);
  expect(await placePending(placer)).toMatchObject({ placed: VMS - 1, failed: 1 });
  expect((await writes()).vms).toEqual([VMS / 2, VMS / 2 - 1]);
});

it('the VMs of a batch with a second conflict are placed one by one', async () => {
  const { sql } = database;
  const takeOne = (index: number) => async () => {
    const [gpuId = ''] = hosts[index]?.gpuIds ?? [];
    await sql`update devices set quarantine_reason = 'x' where id = ${gpuId}`;
  };
  meanwhile(placer, async () => {
    await takeOne(0)();
    meanwhile(placer, takeOne(1));
  });
  expect(await placePending(placer)).toMatchObject({ placed: VMS - 2, failed: 2 });
  const [most, ...others] = (await writes()).vms;
  expect(most).toBe(VMS / 2);
  expect(new Set(others)).toEqual(new Set([1]));
});

it('no batch writes anything after the end of the lease', async () => {
  const { sql } = database;
  meanwhile(placer, () => sql`update leases set expires_at = now() - interval '1 second'`);
  expect(await placePending(placer)).toMatchObject({ leaseHeld: false, placed: 0, failed: 0 });
  expect(await sql`select from placements`).toHaveLength(0);
});
