import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queryable } from '../connect.ts';
import { listUnplacedVms } from './placement/unplaced-vms.ts';
import { hasUnsettled } from './settle/settle-without-host.ts';

/** PostgreSQL does not use indexes then, so each VM may read some tables as a whole, and nothing more. */
const VMS = 100;
const FEW = 10 * VMS ** 2;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  const projectId = await addProject(sql);
  await removeVms(sql, await addVms(sql, VMS, { projectId }));
  await sql`delete from operations`;
  await sql`analyze`;
  await addVms(sql, VMS, { projectId });
});
afterAll(() => database.drop());

/** How many rows of all tables a piece of work reads. PostgreSQL's counters include earlier transactions. */
const rowsRead = (work: (sql: Queryable) => Promise<unknown>): Promise<number> =>
  database.sql.begin(async (tx) => {
    const read = async () => {
      const [found] = await tx<{ rows: number }[]>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as rows from pg_stat_xact_user_tables`;
      return found?.rows ?? 0;
    };
    const before = await read();
    await work(tx);
    return (await read()) - before;
  });

it('placement reads few rows, also with statistics of a time without VMs', async () => {
  const rows = await rowsRead(async (tx) => {
    const turn = await listUnplacedVms(tx, { location: LOCATION, limit: VMS });
    expect(turn.vms).toHaveLength(VMS);
  });
  expect(rows).toBeLessThan(FEW);
});

it('the search for what can be removed reads few rows, also with such statistics', async () => {
  const { sql } = database;
  const [host] = await addHosts(sql, 1);
  await sql`update disks set host_id = ${host?.id ?? ''}`;
  await sql`update vms set desired_state = 'deleted'`;
  const search = async (tx: Queryable) => {
    const [row] = await tx<{ found: boolean }[]>`select ${hasUnsettled(tx)} as found`;
    return row?.found;
  };
  expect(await rowsRead(async (tx) => expect(await search(tx)).toBe(false))).toBeLessThan(FEW);
  // Disks that no host has, of VMs that are still there.
  await sql`update vms set desired_state = 'running'`;
  await sql`update disks set kind = 'data', desired_state = 'deleted', host_id = null`;
  expect(await rowsRead(async (tx) => expect(await search(tx)).toBe(false))).toBeLessThan(FEW);
});
