import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterEach, expect, inject, it } from 'vitest';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';

const made: string[] = [];

/** An empty database: none of the suite's template. */
async function emptyDatabase(): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await onServer((sql) => sql`create database ${sql(name)}`);
  made.push(name);
  return inject('databaseServer').replace(/\/postgres$/, `/${name}`);
}

async function onServer(run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(inject('databaseServer'), { max: 1, onnotice: () => {} });
  await run(sql).finally(() => sql.end());
}

afterEach(async () => {
  for (const name of made.splice(0)) {
    await onServer((sql) => sql`drop database ${sql(name)} with (force)`);
  }
});

async function counts(url: string) {
  const sql = connect({ url, name: 'test', maxConnections: 1 });
  const [row] = await sql`select (select count(*)::int from vm_types) as types,
    (select count(*)::int from locations) as locations,
    (select count(*)::int from drizzle.__drizzle_migrations) as migrations`;
  await sql.end();
  return row;
}

it('many processes that start at once leave one schema and one catalogue', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const once = await counts(url);
  expect(once).toMatchObject({ types: 17, locations: 2 });

  const contested = await emptyDatabase();
  await Promise.all(Array.from({ length: 8 }, () => migrate(contested)));
  expect(await counts(contested)).toEqual(once);
});

it('one cut off midway leaves the next a clean start', async () => {
  const url = await emptyDatabase();
  const sql = connect({ url, name: 'test', maxConnections: 2 });
  await sql.begin(async (holder) => {
    // It waits for a name that somebody may be about to take.
    await holder`create table host_revisions ()`;
    const cut = migrate(url).catch(() => 'cut off');
    const end = () => sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await end()).length).toBe(1);
    expect(await cut).toBe('cut off');
    await holder`drop table host_revisions`;
  });
  await sql.end();
  await migrate(url);
  expect(await counts(url)).toMatchObject({ types: 17 });
});

it('what operators changed in the catalogue stays as they left it', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const sql = connect({ url, name: 'test', maxConnections: 1 });
  await sql`update vm_types set retired = true, description = 'ours' where name = 'a40.1x'`;
  await sql`delete from images`;
  await migrate(url);
  const [type] = await sql`select retired, description from vm_types where name = 'a40.1x'`;
  const images = await sql`select from images`;
  await sql.end();
  expect([type, images.length]).toEqual([{ retired: true, description: 'ours' }, 0]);
});
