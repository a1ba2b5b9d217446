import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { addProject } from '@gantry/testkit/make/tenants';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Queryable } from '../../connect.ts';
import { beginEra, ensureEra } from './era.ts';

let database: TestDatabase;
let hostIds: string[];
beforeEach(async () => {
  database = await createTestDatabase();
  hostIds = (await addHosts(database.sql, 3)).map(({ id }) => id);
});
afterEach(() => database.drop());

const numbers = async () =>
  (await database.sql<{ number: string }[]>`select number from host_revisions`).map(({ number }) =>
    Number(number),
  );
const bump = () => database.sql`select bump_hosts(${hostIds}::uuid[])`;
const nowMs = async () =>
  Number(
    (await database.sql`select floor(extract(epoch from clock_timestamp()) * 1000) as ms`)[0]?.[
      'ms'
    ],
  );
const promote = () => database.sql`update installation set history = 'of another primary'`;

it('the numbers of an installation that lost no commits stay small', async () => {
  await bump();
  expect(await ensureEra(database.sql)).toEqual({ era: '0', hasBegun: false });
  for (const number of await numbers()) expect(number).toBeLessThan(100);
});

it('a new history begins one era, also if many processes notice it', async () => {
  await promote();
  const begun = await Promise.all(Array.from({ length: 5 }, () => ensureEra(database.sql)));
  expect(begun.filter(({ hasBegun }) => hasBegun)).toHaveLength(1);
  expect(new Set(begun.map(({ era }) => era)).size).toBe(1);
});

it('every host gets a number above all earlier ones in a new era, also ones that were lost', async () => {
  const before = await nowMs();
  await promote();
  // A commit before any process has noticed the new history.
  await bump();
  for (const number of await numbers()) expect(number).toBeGreaterThanOrEqual(before);
  const early = await numbers();
  const { era } = await ensureEra(database.sql);
  for (const [index, number] of (await numbers()).entries()) {
    expect(number).toBeGreaterThan(early[index] ?? 0);
    expect(number).toBeGreaterThanOrEqual(Number(era) * 1_000);
  }
});

it('two restores of one backup have different eras', async () => {
  const first = await beginEra(database.sql, { evenIfCurrent: true });
  const second = await beginEra(database.sql, { evenIfCurrent: true });
  expect(Number(second.era)).toBeGreaterThan(Number(first.era));
});

it('a network gets no VXLAN number that a network of a lost commit may have', async () => {
  const { sql } = database;
  const projectId = await addProject(sql);
  const createNetworks = (tx: Queryable, count: number) => tx<{ vni: number }[]>`
    insert into networks (id, project_id, name, cidr)
    select gen_random_uuid(), ${projectId}, 'n' || n, '10.0.0.0/16' from generate_series(1, ${count}) n
    returning vni`;
  const lost: number[] = [];
  const rollBack = new Error('the commit is lost');
  const losing = sql.begin(async (tx) => {
    for (const { vni } of await createNetworks(tx, 600)) lost.push(vni);
    throw rollBack;
  });
  await expect(losing).rejects.toBe(rollBack);
  await promote();
  await ensureEra(sql);
  const given = (await createNetworks(sql, 600)).map(({ vni }) => vni);
  expect(given.filter((vni) => lost.includes(vni))).toEqual([]);
  const [kept] =
    await sql`select count(*)::int as numbers from free_vnis where vni::text = any(${lost.map(String)}::text[])`;
  expect(kept).toEqual({ numbers: 600 });
});

it('a user without special rights can read the history', async () => {
  const { sql } = database;
  const role = `plain_${process.pid}`;
  await sql.unsafe(`create role ${role}`);
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`grant select on installation to ${role}; set local role ${role}`);
      const [row] = await tx`select current_history() as history, count_floor() as floor`;
      expect(row).toMatchObject({
        history: expect.stringMatching(/^\d+\/[0-9A-F]{8}$/),
        floor: '0',
      });
    });
  } finally {
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  }
});

it('stream events that a dump brought from another cluster are removed, and all others stay', async () => {
  const { sql } = database;
  const xids = async () =>
    (await sql<{ xid: string }[]>`select xid::text from stream_events order by xid`).map(
      ({ xid }) => xid,
    );
  const own = await xids();
  expect(own).not.toEqual([]);
  await sql`update installation set stream_since = '1000000000000'`;
  await promote();
  await ensureEra(sql);
  expect(await xids()).toEqual(expect.arrayContaining(own));
  const [row] = await sql<{ is_past: boolean }[]>`
    select stream_since < pg_snapshot_xmax(pg_current_snapshot()) as is_past from installation`;
  expect(row?.is_past).toBe(true);
  await sql`insert into stream_events (xid, type, data) values ('1000000000000', 'vm', '{}')`;
  await promote();
  await ensureEra(sql);
  expect(await xids()).not.toContain('1000000000000');
});
