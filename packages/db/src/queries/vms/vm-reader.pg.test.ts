import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { type PlanWatch, watchPlans } from '@gantry/testkit/database/watch-plans';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Sql } from '../../connect.ts';
import { createVmReader, type VmReader } from './vm-reader.ts';

let database: TestDatabase;
let watch: PlanWatch;
let read: VmReader;
let projectIds: string[];
let vmIds: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  projectIds = [await addProject(sql), await addProject(sql)];
  const added = projectIds.map((projectId) => addVms(sql, 1, { projectId }));
  vmIds = (await Promise.all(added)).flat();
  watch = await watchPlans(database.url);
  read = createVmReader(watch.sql);
});
beforeEach(() => {
  watch.plans.length = 0;
});
afterAll(async () => {
  await watch?.end();
  await database.drop();
});

const keyOf = (index: number) => ({
  projectId: projectIds[index] ?? '',
  vmId: vmIds[index] ?? '',
});

it('reads of one turn share one statement, and each gets its own VM', async () => {
  const rows = await Promise.all([read(keyOf(0)), read(keyOf(1)), read(keyOf(0))]);
  expect(rows.map((row) => row?.id)).toEqual([vmIds[0], vmIds[1], vmIds[0]]);
  expect(watch.plans).toHaveLength(1);
});

it('a project never gets the VM of another one, alone or beside its owner', async () => {
  const foreign = { projectId: projectIds[0] ?? '', vmId: vmIds[1] ?? '' };
  const unknown = { projectId: projectIds[0] ?? '', vmId: newId() };
  expect(await read(foreign)).toBeUndefined();
  const rows = await Promise.all([foreign, keyOf(1), unknown, keyOf(0)].map(read));
  expect(rows.map((row) => row?.id)).toEqual([undefined, vmIds[1], undefined, vmIds[0]]);
});

it('a read sees what was committed before it, also if an earlier read is under way', async () => {
  const earlier = [read(keyOf(0)), read(keyOf(1))];
  await new Promise(setImmediate);
  await database.sql`update vms set tags = '{"changed": "yes"}' where id = ${vmIds[0] ?? ''}`;
  const later = await Promise.all([read(keyOf(0)), read(keyOf(1))]);
  expect(later[0]?.tags).toEqual({ changed: 'yes' });
  await Promise.all(earlier);
});

it('a statement that fails fails its reads, and no later one', async () => {
  const broken = { isBroken: true };
  const sql = ((...args: Parameters<Sql>) => {
    if (broken.isBroken) throw new Error('lost connection');
    return watch.sql(...args);
  }) as unknown as Sql;
  const readMaybe = createVmReader(sql);
  const failed = await Promise.allSettled([readMaybe(keyOf(0)), readMaybe(keyOf(1))]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  broken.isBroken = false;
  expect((await readMaybe(keyOf(1)))?.id).toBe(vmIds[1]);
});
