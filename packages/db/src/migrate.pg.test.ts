import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { connect, type Sql } from './connect.ts';
import { migrate } from './migrate.ts';
import { describeSchema } from './testing/describe-schema.ts';

const made: string[] = [];

/** Creates an empty database, not from the suite's template. */
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

it('many processes that start concurrently create one schema and one catalogue', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const once = await counts(url);
  expect(once).toMatchObject({ types: 17, locations: 2 });

  const contested = await emptyDatabase();
  await Promise.all(Array.from({ length: 8 }, () => migrate(contested)));
  expect(await counts(contested)).toEqual(once);
});

it('a migration that is interrupted leaves nothing behind for the next one', async () => {
  const url = await emptyDatabase();
  const sql = connect({ url, name: 'test', maxConnections: 2, statementLimitMs: 60_000 });
  await sql.begin(async (holder) => {
    // The migration waits for this name, because the other transaction may commit it.
    await holder`create table host_revisions ()`;
    const cut = migrate(url).catch(() => 'cut off');
    const end = () => sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await end()).length, { interval: 5 }).toBe(1);
    expect(await cut).toBe('cut off');
    await holder`drop table host_revisions`;
  });
  await sql.end();
  await migrate(url);
  expect(await counts(url)).toMatchObject({ types: 17 });
});

it('no session of the role compiles statements in a migrated database', async () => {
  const url = await emptyDatabase();
  const jit = async () => {
    const sql = connect({ url, name: 'test', maxConnections: 1 });
    const [row] = await sql`select current_setting('jit') as jit`;
    await sql.end();
    return row?.['jit'];
  };
  expect(await jit()).toBe('on');
  await migrate(url);
  expect(await jit()).toBe('off');
});

it('migrating again keeps what operators changed in the catalogue', async () => {
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

describe('the functions and triggers of the database', () => {
  /** Changes with every write to the catalogue row of a function or trigger. */
  const versions = (sql: Sql) => sql`select proname as name, xmin from pg_proc
    where pronamespace = 'public'::regnamespace
    union all select tgname, xmin from pg_trigger where not tgisinternal order by name`;

  it('are left alone by a process that starts with the files that were applied last', async () => {
    const url = await emptyDatabase();
    await migrate(url);
    const sql = connect({ url, name: 'test', maxConnections: 1 });
    const before = await versions(sql);
    expect(before.length).toBeGreaterThan(40);
    await migrate(url);
    expect(await versions(sql)).toEqual(before);
    await sql.end();
  });

  it('are replaced, and dropped if the files have them no longer, when the files changed', async () => {
    const url = await emptyDatabase();
    await migrate(url);
    const sql = connect({ url, name: 'test', maxConnections: 1 });
    const schema = await describeSchema(sql);
    // As an earlier version left them: another body, and a function and trigger that are gone now.
    await sql.unsafe(`create or replace function touch_host() returns trigger language plpgsql
        as $$ begin return null; end $$;
      create function formerly() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger formerly_on_vms after insert on vms for each row execute function formerly();
      create function of_the_operator() returns int language sql as 'select 1'`);
    await sql`update applied_sql set digest = 'earlier', functions = functions || 'formerly'::text,
      triggers = triggers || 'formerly_on_vms'::text`;
    await migrate(url);
    await sql`drop function of_the_operator()`;
    expect(await describeSchema(sql)).toBe(schema);
    await sql.end();
  });

  it('are applied completely or not at all', async () => {
    const url = await emptyDatabase();
    await migrate(url);
    const sql = connect({ url, name: 'test', maxConnections: 1 });
    await sql`update applied_sql set digest = 'earlier'`;
    const before = await versions(sql);
    // The last table that has triggers is missing.
    await sql`alter table vms rename to vms_elsewhere`;
    await expect(migrate(url)).rejects.toThrow('relation "vms" does not exist');
    expect(await versions(sql)).toEqual(before);
    await sql`alter table vms_elsewhere rename to vms`;
    await migrate(url);
    await sql.end();
  });
});

it('a database of an unreleased version is refused, and the message says what to do', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const sql = connect({ url, name: 'test', maxConnections: 1 });
  await sql`update drizzle.__drizzle_migrations set hash = 'of an unreleased version'`;
  await expect(migrate(url)).rejects.toThrow(/cannot be migrated: .*remove the \.gantry directory/);
  await sql.end();
});

it('a database of a newer version is refused and stays as it is', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const sql = connect({ url, name: 'test', maxConnections: 1 });
  await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('of a newer version', 32503680000000)`;
  await sql`update applied_sql set digest = 'newer'`;
  await expect(migrate(url)).rejects.toThrow(/newer version has used it: start the newer version/);
  expect(await sql`select digest from applied_sql`).toEqual([{ digest: 'newer' }]);
  await sql.end();
});
