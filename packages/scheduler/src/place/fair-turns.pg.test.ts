import { listUnplacedVms } from '@gantry/db/queries/placement/unplaced-vms';
import { insertProject } from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { placePending } from './place-pending.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(async () => {
  const { sql } = database;
  const vms = await sql<{ id: string }[]>`select id from vms`;
  await removeVms(
    sql,
    vms.map(({ id }) => id),
  );
  await sql`delete from operations`;
  await sql`delete from hosts`;
});

const LOCATION = 'eu-north-a';

async function addSibling(projectId: string): Promise<string> {
  const { sql } = database;
  const [row] = await sql<{ organization_id: string }[]>`
    select organization_id from projects where id = ${projectId}`;
  const id = newId();
  await insertProject(sql, { id, name: id, organization_id: row?.organization_id ?? '' });
  return id;
}

const isPlaced = async (vmId: string | undefined) => {
  const [row] = await database.sql`select placed from vms where id = ${vmId ?? ''}`;
  return row?.['placed'];
};

/** How many VMs of each project are in the turn. */
async function turnOf(limit: number, after?: string) {
  const turn = await listUnplacedVms(database.sql, {
    ...{ location: LOCATION, limit },
    ...(after === undefined ? {} : { after }),
  });
  const rows = await database.sql<{ project_id: string; count: number }[]>`
    select project_id, count(*)::int as count from vms
    where id = any(${turn.vms.map(({ id }) => id)}::uuid[]) group by project_id`;
  const counts = new Map(rows.map(({ project_id, count }) => [project_id, count]));
  return { ...turn, of: (projectId: string) => counts.get(projectId) ?? 0 };
}

it('many creations of one tenant delay the creation of another by at most one turn', async () => {
  const { sql } = database;
  const [flood, neighbour] = [await addProject(sql), await addProject(sql)];
  await addHosts(sql, 10, { gpus: 8 });
  const flooding = await addVms(sql, 60, { projectId: flood });
  const [late] = await addVms(sql, 1, { projectId: neighbour });
  const placer = makePlacer(sql, await holdLocation(sql));
  expect(await placePending(placer, { limit: 20 })).toMatchObject({ placed: 11, more: true });
  expect(await isPlaced(late)).toBe(true);
  // Each tenant's own VMs are placed in the order of their creation, and all of them in the end.
  expect(await isPlaced(flooding[9])).toBe(true);
  expect(await isPlaced(flooding[10])).toBe(false);
  for (let more = true; more; ) more = (await placePending(placer, { limit: 20 })).more;
  expect(await isPlaced(flooding[59])).toBe(true);
});

it('the last free GPUs are shared by the tenants that wait for them', async () => {
  const { sql } = database;
  const [flood, neighbour] = [await addProject(sql), await addProject(sql)];
  await addHosts(sql, 1, { gpus: 4 });
  await addVms(sql, 8, { projectId: flood });
  const own = await addVms(sql, 2, { projectId: neighbour });
  const placer = makePlacer(sql, await holdLocation(sql));
  await placePending(placer);
  expect(await Promise.all(own.map(isPlaced))).toEqual([true, true]);
});

it('an organization gets no more turns by having more projects', async () => {
  const { sql } = database;
  const [first, neighbour] = [await addProject(sql), await addProject(sql)];
  const siblings = [first, await addSibling(first), await addSibling(first)];
  for (const projectId of siblings) await addVms(sql, 20, { projectId });
  await addVms(sql, 20, { projectId: neighbour });
  const turn = await turnOf(12);
  expect(turn.of(neighbour)).toBe(6);
  expect(siblings.map(turn.of)).toEqual([2, 2, 2]);
  expect(turn.more).toBe(true);
});

it('more projects than fit into a turn take turns', async () => {
  const { sql } = database;
  const projectIds = [];
  for (let i = 0; i < 5; i += 1) projectIds.push(await addProject(sql));
  for (const projectId of projectIds) await addVms(sql, 3, { projectId });
  const seen = new Set<string>();
  let after: string | undefined;
  for (let turns = 0; turns < 3; turns += 1) {
    const turn = await turnOf(2, after);
    for (const projectId of projectIds) if (turn.of(projectId) > 0) seen.add(projectId);
    expect(turn.more).toBe(true);
    after = turn.after;
  }
  expect(seen.size).toBe(5);
});

it('a turn reads as many rows as it has VMs, however many wait', async () => {
  const { sql } = database;
  const projectId = await addProject(sql);
  for (let i = 0; i < 4; i += 1) await addVms(sql, 300, { projectId });
  // Entries of VMs that are placed would count too while a transaction anywhere on the server is open.
  await sql`vacuum (analyze, index_cleanup on) vms`;
  const rows = await sql.begin(async (tx) => {
    // PostgreSQL's counters include earlier transactions of the connection.
    const read = async () => {
      const [row] = await tx<{ rows: number }[]>`
        select (pg_stat_get_xact_tuples_returned('vms'::regclass)
          + (select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index
            where indrelid = 'vms'::regclass))::int as rows`;
      return row?.rows ?? 0;
    };
    const before = await read();
    const turn = await listUnplacedVms(tx, { location: LOCATION, limit: 50 });
    expect(turn.vms).toHaveLength(50);
    return (await read()) - before;
  });
  expect(rows).toBeGreaterThanOrEqual(50);
  expect(rows).toBeLessThan(100);
});
