import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Sql } from './connect.ts';
import { migrate } from './migrate.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
/** Attempts follow each other at once, so that the tests need not wait for one. */
const limits = { waitMs: 50, pauseMs: 10, giveUpAfterMs: 60_000 };

let database: TestDatabase;
let blocker: Sql;
const folders: string[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  blocker = connect({
    ...{ url: database.url, name: 'a-long-report', maxConnections: 1, statementLimitMs: 0 },
  });
});

afterEach(async () => {
  await blocker.end({ timeout: 5 });
  await database.drop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Returns a folder with our migrations and one more for each text. */
async function addMigrations(...texts: string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-migrations-'));
  folders.push(folder);
  await cp(MIGRATIONS, folder, { recursive: true });
  const file = path.join(folder, 'meta', '_journal.json');
  const journal = JSON.parse(await readFile(file, 'utf8'));
  for (const [index, text] of texts.entries()) {
    const tag = `${9000 + index}_added`;
    await writeFile(path.join(folder, `${tag}.sql`), text);
    const when = Date.now() + 1_000_000_000 + index;
    journal.entries.push({ idx: 9000 + index, version: '7', when, tag, breakpoints: true });
  }
  await writeFile(file, JSON.stringify(journal));
  return folder;
}

/** Runs the body while a transaction of another session holds what the statement locks. */
async function whileBlocked(statement: string, body: () => Promise<void>): Promise<void> {
  await blocker.begin(async (tx) => {
    await tx.unsafe(statement);
    await body();
  });
}

/** Waits until the migration is in the queue for a lock on the table. */
async function seeQueued(table: string): Promise<void> {
  const isQueued = async () =>
    (await database.sql`select from pg_locks where relation = ${table}::regclass and not granted`)
      .length;
  await expect.poll(isQueued, { interval: 1 }).toBe(1);
}

const hasColumn = async (name: string) =>
  (await database.sql`select from pg_attribute where attname = ${name} and not attisdropped`)
    .length > 0;

describe('a migration that has to wait for a lock', () => {
  it('lets later statements on the tables pass, and finishes when the blocker has ended', async () => {
    const migrations = await addMigrations(
      'alter table locations add column added boolean;--> statement-breakpoint\nalter table hosts add column added boolean;',
    );
    let migrating = Promise.resolve();
    await whileBlocked('select from hosts', async () => {
      migrating = migrate(database.url, { migrations, limits });
      for (const table of ['hosts', 'locations', 'hosts', 'locations']) {
        await seeQueued('hosts');
        // The blocker still has its lock, so these return only because the migration steps back.
        await database.sql`select from ${database.sql(table)}`;
      }
      expect(await hasColumn('added')).toBe(false);
    });
    await migrating;
    expect(await hasColumn('added')).toBe(true);
  });

  it('gives up after a time, changes nothing, and names the statement and the session', async () => {
    const migrations = await addMigrations('-- Why.\nalter table hosts add column added boolean;');
    await whileBlocked('select from hosts', async () => {
      // Time for many attempts, so that one of them waits while its blockers are read.
      const given = { ...limits, giveUpAfterMs: 3_000 };
      await expect(migrate(database.url, { migrations, limits: given })).rejects.toThrow(
        /^the migration 9000_added needs a lock .* "alter table hosts add column added boolean;" waited for session \d+ \(a-long-report, user \w+, idle in transaction, in a transaction for \d+ s\)/,
      );
    });
    expect(await hasColumn('added')).toBe(false);
    await migrate(database.url, { migrations, limits });
    expect(await hasColumn('added')).toBe(true);
  });

  it('keeps the migrations before it', async () => {
    const migrations = await addMigrations(
      'alter table locations add column first boolean;',
      'alter table hosts add column second boolean;',
    );
    await whileBlocked('select from hosts', async () => {
      const given = { ...limits, giveUpAfterMs: 0 };
      await expect(migrate(database.url, { migrations, limits: given })).rejects.toThrow('9001');
    });
    expect([await hasColumn('first'), await hasColumn('second')]).toEqual([true, false]);
    await migrate(database.url, { migrations, limits });
    expect(await hasColumn('second')).toBe(true);
  });
});

describe('the functions and triggers of another version', () => {
  const writeNothing = 'delete from vms where false';

  it('are replaced without a lock on any table if no trigger has changed', async () => {
    await database.sql`update applied_sql set digest = 'earlier'`;
    await whileBlocked(`${writeNothing}; delete from hosts where false`, () =>
      migrate(database.url, { limits: { ...limits, giveUpAfterMs: 0 } }),
    );
    expect(await database.sql`select from applied_sql where digest = 'earlier'`).toHaveLength(0);
  });

  it('let writers pass while a changed trigger waits for a lock', async () => {
    await database.sql.unsafe(`update applied_sql set digest = 'earlier';
      create or replace trigger vms_quota after insert on vms for each row execute function count_vm()`);
    let migrating = Promise.resolve();
    await whileBlocked(writeNothing, async () => {
      migrating = migrate(database.url, { limits });
      await seeQueued('vms');
      await database.sql.unsafe(writeNothing);
    });
    await migrating;
    const [row] = await database.sql`select pg_get_triggerdef(oid) as definition from pg_trigger
      where tgname = 'vms_quota'`;
    expect(row?.['definition']).toContain('AFTER INSERT OR DELETE OR UPDATE OF type');
  });
});

describe('an index that is built concurrently', () => {
  const isValid = async () =>
    (
      await database.sql`select indisvalid from pg_index where indexrelid = to_regclass('added_index')`
    ).map((row) => row['indisvalid']);

  it('is built once while other processes wait to migrate', async () => {
    const migrations = await addMigrations(
      'create index concurrently "added_index" on hosts (id);',
    );
    await Promise.all(Array.from({ length: 4 }, () => migrate(database.url, { migrations })));
    expect(await isValid()).toEqual([true]);
  });

  it('is built again after a build that failed', async () => {
    await database.sql`create table things as select 1 as id from generate_series(1, 2)`;
    const migrations = await addMigrations(
      'create unique index concurrently added_index on things (id);',
    );
    await expect(migrate(database.url, { migrations })).rejects.toThrow('9000_added failed');
    expect(await isValid()).toEqual([false]);
    await database.sql`delete from things where ctid = '(0,1)'`;
    await migrate(database.url, { migrations });
    expect(await isValid()).toEqual([true]);
  });
});
