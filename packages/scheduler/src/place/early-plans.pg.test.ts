import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { type PlanWatch, watchPlans } from '@gantry/testkit/database/watch-plans';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placePending } from './place-pending.ts';

/** PL/pgSQL keeps the plans of a session, also those that were made while there were no placements. */
const VMS = 100;

let database: TestDatabase;
let watch: PlanWatch;
beforeAll(async () => {
  database = await createTestDatabase();
  watch = await watchPlans(database.url);
  await watch.sql`set plan_cache_mode = force_generic_plan`;
});
afterAll(async () => {
  await watch?.end();
  await database.drop();
});

it('a session that placed the first VM reads as few rows for a VM when there are many', async () => {
  const { sql } = database;
  const projectId = await addProject(sql);
  await addHosts(sql, 2 * VMS);
  // There are VMs and operations, but no placements and claims yet.
  await addVms(sql, VMS, { projectId, location: 'us-east-a' });
  await sql`analyze`;
  const placer = { ...makePlacer(sql, await holdLocation(sql)), writeSql: watch.sql };
  const rowsToPlaceOne = async () => {
    await addVms(sql, 1, { projectId });
    watch.plans.length = 0;
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
    return watch.plans.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  };
  await rowsToPlaceOne();
  const rowsOfSecond = await rowsToPlaceOne();
  await addVms(sql, VMS, { projectId });
  expect(await placePending({ ...placer, writeSql: sql })).toMatchObject({ placed: VMS });
  expect(await rowsToPlaceOne()).toBeLessThan(rowsOfSecond + VMS / 2);
});
