import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addProject } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertLocation } from './admin-catalogue.ts';
import { addDefaultSubnets, listLocationsWithoutSubnets } from './default-subnets.ts';

let database: TestDatabase;
const networkIds: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  for (let i = 0; i < 30; i += 1) await addProject(sql);
  const rows = await sql<{ id: string }[]>`select id from networks where is_default order by id`;
  networkIds.push(...rows.map(({ id }) => id));
});
afterAll(() => database.drop());

const add = (name: string) =>
  insertLocation(database.sql, { name, region: 'eu-west', zone: name, description: '' });
const networksWith = async (location: string) => {
  const rows = await database.sql<{ network_id: string }[]>`
    select network_id from subnets where location = ${location} order by network_id`;
  return rows.map(({ network_id }) => network_id);
};

it('a new location locks only a few networks at a time', async () => {
  const { sql } = database;
  await add('a');
  const { adding } = await sql.begin(async (tx) => {
    await tx`select from networks where id = ${networkIds.at(-1) ?? ''} for update`;
    const adding = addDefaultSubnets(sql, 'a');
    await expect
      .poll(
        () => sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      .toHaveLength(1);
    expect(await networksWith('a')).toEqual(networkIds.slice(0, 20));
    await sql`select from networks where id = ${networkIds[0] ?? ''} for update nowait`;
    return { adding };
  });
  await adding;
  expect(await networksWith('a')).toEqual(networkIds);
});

it('a location whose subnets were not all added gets the rest, from any number of processes', async () => {
  const { sql } = database;
  await add('b');
  const ended = new Error('the process ended');
  let batches = 0;
  const dying = new Proxy(sql, {
    get(target, name) {
      if (name === 'begin' && ++batches > 1) throw ended;
      return Reflect.get(target, name);
    },
  });
  await expect(addDefaultSubnets(dying, 'b')).rejects.toBe(ended);
  expect(await networksWith('b')).toHaveLength(20);
  expect(await listLocationsWithoutSubnets(sql)).toEqual(['b']);

  await Promise.all([addDefaultSubnets(sql, 'b'), addDefaultSubnets(sql, 'b')]);
  expect(await networksWith('b')).toEqual(networkIds);
  expect(await listLocationsWithoutSubnets(sql)).toEqual([]);
});
