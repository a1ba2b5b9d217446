import { openBlackHole } from '@gantry/testkit/database/black-hole';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toCloudError } from './errors.ts';
import { type Database, openDatabase } from './open-database.ts';

let database: TestDatabase;
let opened: Database | undefined;
let lines: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await opened?.end();
  opened = undefined;
  lines = [];
});
afterAll(() => database.drop());

const write = (_fields: object, message: string) => void lines.push(message);
const log = { info: write, warn: write };
const open = async (url = database.url, processNowMs = () => Date.now()): Promise<Database> => {
  opened = await openDatabase({
    url,
    name: 'gantry-watched',
    maxConnections: 3,
    log,
    processNowMs,
  });
  return opened;
};

describe('a database that disappears without a reset', () => {
  it('fails every statement within seconds, and the pool works again when it is back', async () => {
    const hole = await openBlackHole(database.url);
    const { sql, watch } = await open(hole.url);
    await Promise.all([sql`select 1`, sql`select 2`, sql`select 3`]);
    await expect.poll(() => watch.steadyMs()).toBeGreaterThan(0);
    hole.swallow();
    const swallowedAt = performance.now();
    const errors = await Promise.all([
      sql`select 1`.catch(toCloudError),
      sql.begin((tx) => tx`select 2`).catch(toCloudError),
    ]);
    expect(errors).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }]);
    // Statements of this pool may take 10 s. A busy machine adds to the 5 s of the watch.
    expect(performance.now() - swallowedAt).toBeLessThan(25_000);
    expect(watch.steadyMs()).toBe(0);
    hole.release();
    await expect.poll(() => sql`select 1 as one`.catch(() => 'failed')).toEqual([{ one: 1 }]);
    await expect.poll(() => watch.steadyMs()).toBeGreaterThan(0);
    expect(lines).toEqual([
      'database does not reply; closed its silent connections',
      'database replies again',
    ]);
    hole.close();
  });

  it('does not make a connection fail that still works', async () => {
    const { sql } = await open();
    // Longer than the limit of a probe.
    expect(await sql`select pg_sleep(3), 1 as one`).toMatchObject([{ one: 1 }]);
    expect(lines).not.toContain('closed connections without a reply');
  });
});

it('a session that hangs in the middle of a statement fails it after its limit', async () => {
  const { openPool } = await open();
  const pool = openPool({ name: 'gantry-hung', maxConnections: 1, statementLimitMs: 10_000 });
  const [row] = await pool`select pg_backend_pid() as pid`;
  const pid = Number(row?.['pid']);
  const hung = pool`select pg_sleep(60)`.catch(toCloudError);
  await expect
    .poll(() => database.sql`select from pg_stat_activity where pid = ${pid} and state = 'active'`)
    .toHaveLength(1);
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await hung).toMatchObject({ code: 'unavailable' });
    await expect.poll(() => pool`select 1 as one`.catch(() => 'closed')).toEqual([{ one: 1 }]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(lines).toEqual(['closed connections without a reply']);
});

it('a session that hangs fails its own statement, and the other connections work on', async () => {
  const { sql, openPool } = await open();
  const pool = openPool({ name: 'gantry-hung', maxConnections: 1, statementLimitMs: 60_000 });
  const [row] = await pool`select pg_backend_pid() as pid`;
  const pid = Number(row?.['pid']);
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  try {
    const hung = pool`select 1`.catch(toCloudError);
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    expect(await hung).toMatchObject({ code: 'unavailable' });
    // A statement of this pool may take 60 s, so this hang was found sooner.
    expect(performance.now() - stoppedAt).toBeLessThan(30_000);
    await expect.poll(() => pool`select 1 as one`.catch(() => 'closed')).toEqual([{ one: 1 }]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(lines).toEqual(['closed connections without a reply']);
});

describe('the time of the database', () => {
  it('is known to a process, whatever its own clock shows', async () => {
    const { watch } = await open(database.url, () => 0);
    const before = watch.nowMs();
    const [row] = await database.sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    const shown = row?.ms ?? 0;
    expect(watch.nowMs()).toBeGreaterThan(shown - 1_000);
    expect(before).toBeLessThan(shown + 1_000);
  });

  it('makes a process refuse to serve while its own clock differs, in both directions', async () => {
    let aheadMs = 4_000;
    const { watch } = await open(database.url, () => Date.now() + aheadMs);
    expect(watch.clockProblem()).toBe(null);
    for (const [offsetMs, direction] of [
      [3_600_000, /3(599|600)\.\d s ahead of/],
      [-9_000, /[89]\.\d s behind/],
    ] as const) {
      aheadMs = offsetMs;
      await expect.poll(() => watch.clockProblem()).toMatch(direction);
      expect(watch.steadyMs()).toBe(0);
      aheadMs = 0;
      await expect.poll(() => watch.clockProblem()).toBe(null);
      expect(watch.steadyMs()).toBeGreaterThan(0);
    }
    const refusal = 'clock differs from the clock of the database; refusing to serve';
    const recovery = 'clock is right again; serving';
    expect(lines).toEqual([refusal, recovery, refusal, recovery]);
  });
});
