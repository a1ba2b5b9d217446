import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Sql } from '../../connect.ts';
import { closeDueDays } from './usage.ts';

/**
 * Every moment of use is counted on one day, once: whatever was used, however often days are
 * closed, by any number of concurrent closers, even if some are killed.
 */
const DAY_MS = 86_400_000;
const ORIGIN_MS = Date.parse('2026-02-25T00:00:00Z');
const DAYS = 9;
const PRICES = { 'a40.1x': 1_500_000_000n, 'persistent-ssd': 13_000n };
const ORGANIZATION = newId();
const PROJECTS = [newId(), newId()];

type Interval = {
  project: string;
  type: 'a40.1x' | 'l40s-48gb.1x' | 'persistent-ssd';
  region: string;
  units: number;
  startMs: number;
  lengthMs: number | null;
};
type Step = { afterMs: number; closers: number; killed: boolean };

const moments = fc.oneof(
  fc.integer({ min: 0, max: DAYS * DAY_MS }),
  // Midnights and the milliseconds around them.
  fc
    .tuple(fc.nat(DAYS), fc.integer({ min: -1, max: 1 }))
    .map(([day, by]) => Math.max(0, day * DAY_MS + by)),
);
const intervals: fc.Arbitrary<Interval[]> = fc.array(
  fc
    .record({
      project: fc.constantFrom(...PROJECTS),
      type: fc.constantFrom('a40.1x' as const, 'l40s-48gb.1x' as const, 'persistent-ssd' as const),
      region: fc.constantFrom('eu-north', 'us-east'),
      gb: fc.integer({ min: 1, max: 10_240 }),
      startMs: moments,
      lengthMs: fc.option(fc.oneof(fc.nat(4 * DAY_MS), fc.constantFrom(0, 1, DAY_MS))),
    })
    .map(({ gb, ...rest }) => ({ ...rest, units: rest.type === 'persistent-ssd' ? gb : 1 })),
  { minLength: 1, maxLength: 25 },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ afterMs: moments, closers: fc.integer({ min: 1, max: 3 }), killed: fc.boolean() }),
  { maxLength: 4 },
);

let database: TestDatabase;
let closers: Sql[];
let victim: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  const { url } = database;
  await database.sql`insert into prices values ('a40.1x', 15)`;
  closers = [1, 2, 3].map((n) => connect({ url, name: `closer-${n}`, maxConnections: 1 }));
  victim = connect({ url, name: 'victim', maxConnections: 1 });
});
afterAll(async () => {
  await Promise.all([...closers, victim].map((sql) => sql.end({ timeout: 5 })));
  await database.drop();
});

it('the usage of all days adds up to the total in any order, after restarts and with concurrent closers', async () => {
  await fc.assert(
    fc.asyncProperty(intervals, steps, async (used, plan) => {
      await database.sql`truncate usage_days, usage_adjustments, closed_prices, closed_days, late_usage, meter_intervals`;
      await insertIntervals(used);
      for (const step of [...plan].sort((a, b) => a.afterMs - b.afterMs)) await take(step);
      await take({ afterMs: DAYS * DAY_MS + 5 * 60_000, closers: 1, killed: false });
      await expectWhole(used);
    }),
    { numRuns: 60, includeErrorInReport: true },
  );
}, 180_000);

/** Several concurrent closers, one of which may be interrupted at any point. */
async function take({ afterMs, closers: count, killed }: Step): Promise<void> {
  const now = new Date(ORIGIN_MS + afterMs);
  const doomed = killed ? closeUntilCutOff(now) : [];
  const running = closers.slice(0, count).map((sql) => closeDueDays(sql, now));
  const closed = (await Promise.all([...running, doomed])).flat();
  expect(new Set(closed).size).toBe(closed.length);
}

/** Simulates a closer that is killed: the current statement fails, and no other follows. */
async function closeUntilCutOff(now: Date): Promise<string[]> {
  let ended = false;
  const closing = closeDueDays(victim, now)
    .catch(() => [])
    .finally(() => {
      ended = true;
    });
  while (!ended) {
    await database.sql`select pg_cancel_backend(pid) from pg_stat_activity
      where application_name = 'victim' and datname = current_database()`;
  }
  return await closing;
}

async function insertIntervals(used: Interval[]): Promise<void> {
  await database.sql`insert into meter_intervals ${database.sql(
    used.map(({ project, type, region, units, startMs, lengthMs }) => ({
      ...{ id: newId(), organization_id: ORGANIZATION, project_id: project, resource_id: newId() },
      ...{ resource_type: type, region, units, billable_metric: metricOf(type) },
      started_at: new Date(ORIGIN_MS + startMs),
      ended_at: lengthMs === null ? null : new Date(ORIGIN_MS + startMs + lengthMs),
    })),
  )}`;
}

const metricOf = (type: string) => (type === 'persistent-ssd' ? 'gb_hours' : 'vm_seconds');

type Sums = { rows: number; quantity: bigint; cost: bigint; priced: boolean };

/**
 * All values are integers: quantities in millionths, costs in hundred-millionths, as they are
 * stored.
 */
async function expectWhole(used: Interval[]): Promise<void> {
  const rows = await database.sql<
    { key: string; rows: number; quantity: string; cost: string; priced: boolean }[]
  >`select project_id || ' ' || resource_type || ' ' || billable_metric || ' ' || region as key, count(*)::int as rows,
      (sum(quantity) * 1000000)::numeric(30,0)::text as quantity,
      (sum(cost_usd) * 100000000)::numeric(30,0)::text as cost, bool_and(priced) as priced
    from usage_days where organization_id = ${ORGANIZATION} group by 1`;
  const stored = new Map<string, Sums>(
    rows.map(({ key, quantity, cost, ...rest }) => [
      key,
      { ...rest, quantity: BigInt(quantity), cost: BigInt(cost) },
    ]),
  );
  const expected = wholeOf(used);
  expect([...stored.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [key, unitMs] of expected) {
    const sums = stored.get(key) ?? { rows: 0, quantity: 0n, cost: 0n, priced: false };
    const type = key.split(' ')[1] ?? '';
    const price = PRICES[type as keyof typeof PRICES] ?? 0n;
    expect([key, sums.priced]).toEqual([key, price > 0n]);
    // Seconds are exact. A value divided by 3600 is rounded once a day, by at most half a unit.
    const hourMs = 3_600_000n;
    if (metricOf(type) === 'vm_seconds')
      expect([key, sums.quantity]).toEqual([key, unitMs * 1000n]);
    else expectRounded(sums.quantity * hourMs - unitMs * 1_000_000n, sums.rows);
    expectRounded(sums.cost * hourMs - unitMs * price, sums.rows);
  }
}

function expectRounded(errorTimesHourMs: bigint, rows: number): void {
  expect(Math.abs(Number(errorTimesHourMs)) / 3_600_000).toBeLessThanOrEqual(rows * 0.5 + 1e-6);
}

/** Units times milliseconds of each line of the bill, within the closed days. */
function wholeOf(used: Interval[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { project, type, region, units, startMs, lengthMs } of used) {
    const endMs = Math.min(lengthMs === null ? Infinity : startMs + lengthMs, DAYS * DAY_MS);
    if (endMs <= startMs) continue;
    const key = `${project} ${type} ${metricOf(type)} ${region}`;
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(units) * BigInt(endMs - startMs));
  }
  return sums;
}
