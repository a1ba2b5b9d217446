import { readChanges } from '@gantry/db/queries/changes';
import { readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { type PlanWatch, watchPlans } from '@gantry/testkit/database/watch-plans';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placePending } from './place-pending.ts';

/**
 * Schedulers plan each statement once, for all values. What they repeat all the time must find
 * its rows by index, however many hosts and VMs there are.
 */
const HOSTS = 3_000;
const VMS = 3_000;
const LARGE = [
  'address_claims',
  'devices',
  'disk_attachments',
  'disks',
  'host_revisions',
  'hosts',
  'network_interfaces',
  'operations',
  'placements',
  'vms',
];

let database: TestDatabase;
let watch: PlanWatch;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  projectId = await addProject(sql);
  for (let added = 0; added < HOSTS; added += 1_000) await addHosts(sql, 1_000, { gpus: 2 });
  await attachAll();
  await sql`update organization_quotas set max = 1000000`;
  const vmIds: string[] = [];
  while (vmIds.length < VMS) vmIds.push(...(await addVms(sql, 500, { projectId })));
  const placer = makePlacer(sql, await holdLocation(sql));
  while ((await placePending(placer)).more);
  await sql`update vms set observed_state = 'running', observed_generation = generation
    where id = any(${vmIds}::uuid[])`;
  await sql`update operations set state = 'SUCCEEDED', completed_at = now(), result = '{}'`;
  await sql`analyze`;
  watch = await watchPlans(database.url);
  await watch.sql`set plan_cache_mode = force_generic_plan`;
}, 120_000);
afterAll(async () => {
  await watch?.end();
  await database.drop();
});

/** A placer avoids hosts without a stream. */
async function attachAll(): Promise<void> {
  const { sql } = database;
  const id = newId();
  await sql`insert into schedulers (id, address, last_seen_at) values (${id}, '', now() + interval '1 hour')`;
  await sql`update hosts set scheduler_id = ${id}, stream_epoch = 1`;
}

/**
 * A transaction of another database of the server counts as open too. While one is older than what this
 * test has set up, all of that would be a change.
 */
async function readXidAfterOthers(sql: PlanWatch['sql']): Promise<string> {
  const [now] = await database.sql<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
  const oldest = async () => BigInt(await readOldestOpenXid(sql));
  await expect.poll(oldest, { timeout: 60_000 }).toBeGreaterThan(BigInt(now?.xid ?? 0));
  return await readOldestOpenXid(sql);
}

it('a poll and the placement of a VM scan no table that grows with hosts or VMs', async () => {
  const { sql, plans } = watch;
  const placer = makePlacer(sql, await holdLocation(database.sql));
  await addVms(database.sql, 1, { projectId });
  await placePending(placer);
  const since = await readXidAfterOthers(sql);
  await addVms(database.sql, 1, { projectId });
  plans.length = 0;
  const changes = await readChanges(sql, { since, locations: ['eu-north-a'] });
  expect(changes.unplaced).toEqual(['eu-north-a']);
  expect(await placePending(placer)).toMatchObject({ placed: 1 });
  expect((await readChanges(sql, { since, locations: ['eu-north-a'] })).hosts).toHaveLength(1);
  expect(await placePending(placer)).toMatchObject({ placed: 0, changed: false });
  const scans = plans.filter(({ scanned }) => scanned.some((table) => LARGE.includes(table)));
  expect(scans.map(({ statement, scanned }) => ({ statement, scanned }))).toEqual([]);
});

it('a poll reads as few rows while many VMs are being created', async () => {
  const { sql, plans } = watch;
  await database.sql`update operations set state = 'IN_PROGRESS', completed_at = null, result = null`;
  await database.sql`analyze operations`;
  const since = await readXidAfterOthers(sql);
  plans.length = 0;
  await readChanges(sql, { since, locations: ['eu-north-a'] });
  expect(plans[0]?.rowsRead).toBeLessThan(100);
});
