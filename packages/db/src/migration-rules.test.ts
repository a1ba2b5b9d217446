import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { concurrentIndexOf, readMigrations } from './apply-migrations.ts';
import { findBrokenRules } from './testing/migration-rules.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
/** Released before there were rules. They are not edited, and no other may be added here. */
const LAST_FREE = '0014_network-changes';

it('every new migration follows the rules of docs/contributors/migrations.md', () => {
  const checked = readMigrations(MIGRATIONS).filter(({ name }) => name > LAST_FREE);
  const broken = checked.flatMap((migration) =>
    findBrokenRules(migration.statements).map((problem) => `${migration.name}: ${problem}`),
  );
  expect(broken).toEqual([]);
});

describe('a migration of an existing table', () => {
  it.each([
    ['alter table "hosts" add column "x" boolean default false not null;'],
    ['alter table hosts drop column x;'],
    ['alter table hosts add constraint c check (x > 0) not valid;'],
    ['alter table hosts validate constraint c;'],
    [
      '-- Why.\ncreate index concurrently "hosts_x" on "hosts" using btree ("x") where x is not null;',
    ],
    ['drop index concurrently "hosts_x";'],
    ['alter table hosts add constraint c unique using index hosts_x;'],
    ['update hosts set x = 1 where x is null;'],
  ])('may be: %s', (statement) => {
    expect(findBrokenRules([statement])).toEqual([]);
  });

  it.each([
    ['create index hosts_x on hosts (x);', 'concurrently'],
    ['create unique index hosts_x on "public"."hosts" using btree (x);', 'concurrently'],
    ['drop index "hosts_x";', 'concurrently'],
    ['alter table hosts add constraint c check (x > 0);', 'NOT VALID'],
    [
      'alter table hosts add constraint c foreign key (x) references hosts(id) on delete cascade;',
      'NOT VALID',
    ],
    ['alter table "leases" add constraint "k" unique("location","epoch");', 'USING INDEX'],
    ['alter table hosts add column x uuid references locations(name);', 'statements of their own'],
    ['alter table hosts alter column "x" set data type bigint;', 'rewrites'],
    ['alter table hosts add column y int generated always as (x + 1) stored;', 'rewrites'],
    ['alter table hosts add column y uuid default gen_random_uuid() not null;', 'rewrites'],
    ['alter table hosts alter column x set not null;', 'is not null'],
    ['lock table hosts;', 'leave it out'],
  ])('may not be: %s', (statement, instead) => {
    expect(findBrokenRules([statement]).join()).toContain(instead);
  });

  it('locks no other table in the same transaction', () => {
    const two = ['alter table hosts add column x int;', 'alter table "vms" add column x int;'];
    expect(findBrokenRules(two)).toEqual([
      'locks hosts and vms in one transaction: make a migration for each table',
    ]);
    const same = ['alter table hosts add column x int;', 'alter table hosts add column y int;'];
    expect(findBrokenRules(same)).toEqual([]);
  });

  it('has no other statement beside an index that is built concurrently', () => {
    const statements = [
      'create index concurrently i on hosts (x);',
      'alter table hosts drop column y;',
    ];
    expect(findBrokenRules(statements)).toHaveLength(1);
    expect(() => concurrentIndexOf({ name: '0099_x', statements })).toThrow('0099_x');
  });
});

it('a table that a migration creates may have indexes and keys at once', () => {
  const statements = [
    'create table "things" ("id" uuid primary key, "host_id" uuid);',
    'create index "things_host" on "things" using btree ("host_id");',
    'alter table "things" add constraint "c" foreign key ("host_id") references "public"."hosts"("id") on delete cascade;',
  ];
  expect(findBrokenRules(statements)).toEqual([]);
});
