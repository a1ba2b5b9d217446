import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Sql } from '../../connect.ts';
import { adjustClosedDays } from './adjustments.ts';
import { closeInterval, closeUnproven, openInterval, proveInterval } from './meter.ts';
import { closeDueDays } from './usage.ts';

/**
 * Months of billing with a clock that the test moves, each with the schedules of eight VMs. VMs are
 * reported as running, stopped and crash; hosts fall silent, are given up and come back, with the VM
 * or without it; schedulers close days late, after downtime, several at the same time, interrupted,
 * and by clocks that are wrong by up to ten minutes. Beside it, `Oracle` keeps plain lists of the
 * time that each VM owes, and knows nothing of intervals, days or adjustments.
 *
 * Each VM has a project of its own, because the bill does not name VMs.
 */
const given = process.env['GANTRY_PROPERTY_SEED'] ?? '1';
const SEED = given === 'random' ? Date.now() % 2 ** 31 : Number(given);
const RUNS = Number(process.env['GANTRY_PROPERTY_RUNS'] ?? '40');
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DAYS = 31;
const MONTH_MS = DAYS * DAY_MS;
const ORIGIN_MS = Date.parse('2026-03-01T00:00:00Z');
const ORGANIZATION = newId();
const QUERY_CANCELED = '57014';
const VMS = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => ({ index, id: newId(), projectId: newId() }));
type Vm = (typeof VMS)[number];

type Step = { afterMs: number; vm: Vm; event: Event };
type Event =
  | { is: 'running' | 'stopped' | 'crashed' | 'returned' | 'returned-crashed' }
  /** The host is given up this long after it was last seen: hours, if no scheduler was there. */
  | { is: 'silent'; unseenMs: number }
  | { is: 'close'; skewMs: number; closers: number; interrupted: boolean };

const pauses = fc.oneof(
  fc.nat(10 * MINUTE_MS),
  fc.nat(12 * HOUR_MS),
  fc.nat(12 * HOUR_MS),
  fc.constantFrom(0, 1, SECOND_MS, DAY_MS - 1, DAY_MS),
);
const silence: fc.Arbitrary<Event> = fc.record({
  is: fc.constant('silent' as const),
  unseenMs: fc.oneof(fc.constant(30 * SECOND_MS), fc.nat(30 * HOUR_MS)),
});
const closing: fc.Arbitrary<Event> = fc.record({
  is: fc.constant('close' as const),
  skewMs: fc.integer({ min: -10 * MINUTE_MS, max: 10 * MINUTE_MS }),
  closers: fc.integer({ min: 1, max: 3 }),
  interrupted: fc.boolean(),
});
const events: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ is: 'running' }) },
  { weight: 2, arbitrary: fc.constant<Event>({ is: 'stopped' }) },
  { weight: 1, arbitrary: fc.constant<Event>({ is: 'crashed' }) },
  { weight: 3, arbitrary: fc.constant<Event>({ is: 'returned' }) },
  { weight: 1, arbitrary: fc.constant<Event>({ is: 'returned-crashed' }) },
  { weight: 3, arbitrary: silence },
  { weight: 1, arbitrary: closing },
);
const months: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ afterMs: pauses, vm: fc.constantFrom(...VMS), event: events }),
  { minLength: 100, maxLength: 150, size: 'max' },
);

let database: TestDatabase;
let closers: Sql[];

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`insert into prices values ('a40.1x', 0.36)`;
  closers = [1, 2, 3].map((n) =>
    connect({ url: database.url, name: `closer-${n}`, maxConnections: 1 }),
  );
});
afterAll(async () => {
  await Promise.all(closers.map((sql) => sql.end({ timeout: 5 })));
  await database.drop();
});

it('the closed days of a month and their adjustments are the running time of every VM to the millisecond', async () => {
  const seen = { late: 0, refunded: 0 };
  await fc.assert(
    fc.asyncProperty(months, async (steps) => {
      await database.sql`truncate usage_adjustments, usage_days, closed_prices, closed_days, late_usage, meter_intervals`;
      const oracles = new Map(VMS.map(({ index }) => [index, new Oracle()]));
      const oracleOf = ({ index }: Vm) => oracles.get(index) ?? new Oracle();
      let atMs = 0;
      for (const { afterMs, vm, event } of steps) {
        atMs = Math.min(atMs + afterMs, MONTH_MS);
        if (event.is === 'close') await close(atMs, event);
        else await happen({ vm, event, atMs, oracle: oracleOf(vm) });
      }
      for (const vm of VMS)
        await happen({ vm, event: { is: 'stopped' }, atMs: MONTH_MS, oracle: oracleOf(vm) });
      await close(MONTH_MS + HOUR_MS, { skewMs: 0, closers: 1, interrupted: false });
      const charged = await readCharged();
      for (const vm of VMS) expectCharged(vm, { oracle: oracleOf(vm), charged });
      const [row] = await database.sql`select count(*) filter (where quantity > 0)::int as late,
        count(*) filter (where quantity < 0)::int as refunded from usage_adjustments`;
      seen.late += row?.['late'];
      seen.refunded += row?.['refunded'];
    }),
    // A failure is reported before the test times out, also if looking for a shorter one takes long.
    {
      ...{ seed: SEED, numRuns: RUNS, includeErrorInReport: true },
      ...{ interruptAfterTimeLimit: 400_000, markInterruptAsFailure: true },
    },
  );
  // The months contain late usage and refunds; otherwise they would prove little.
  expect(seen.late).toBeGreaterThan(RUNS);
  expect(seen.refunded).toBeGreaterThan(0);
}, 600_000);

/** What a VM owes, as plain periods. Moments are milliseconds since the start of the month. */
class Oracle {
  readonly periods: [from: number, to: number][] = [];
  #runsSince: number | null = null;
  /** While the host is silent: until when the VM was seen, and when the host was given up. */
  #silence: { seen: number; givenUp: number } | null = null;

  get isSilent(): boolean {
    return this.#silence !== null;
  }

  run(at: number): void {
    this.#runsSince ??= at;
  }

  stop(at: number): void {
    if (this.#runsSince !== null) this.periods.push([this.#runsSince, this.#silence?.seen ?? at]);
    this.#runsSince = null;
    this.#silence = null;
  }

  giveUp(at: number, unseen: number): void {
    if (this.#runsSince === null) return;
    this.#silence = { seen: Math.max(this.#runsSince, at - unseen), givenUp: at };
  }

  /** The VM ran all the time. It is not charged while it was UNREACHABLE. */
  comeBack(at: number): void {
    if (this.#runsSince === null || !this.#silence) return;
    this.periods.push([this.#runsSince, this.#silence.givenUp]);
    this.#runsSince = at;
    this.#silence = null;
  }

  owedMs(from: number, to: number): number {
    return this.periods.reduce(
      (sum, [start, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)),
      0,
    );
  }
}

type Happening = { vm: Vm; event: Exclude<Event, { is: 'close' }>; atMs: number; oracle: Oracle };

/** Meters as the api and the scheduler do when the event happens. */
async function happen({ vm, event, atMs, oracle }: Happening): Promise<void> {
  const { sql } = database;
  const now = new Date(ORIGIN_MS + atMs);
  const resourceId = vm.id;
  const wasSilent = oracle.isSilent;
  switch (event.is) {
    case 'running':
      if (wasSilent) return;
      oracle.run(atMs);
      return await open(vm, now);
    case 'crashed':
      // A silent host reports nothing.
      if (wasSilent) return;
      oracle.stop(atMs);
      return await closeInterval(sql, { resourceId, endedAt: now });
    case 'stopped':
      oracle.stop(atMs);
      return await closeInterval(sql, { resourceId, endedAt: now });
    case 'silent':
      if (wasSilent) return;
      oracle.giveUp(atMs, event.unseenMs);
      return await closeUnproven(sql, {
        ...{ resourceId, now, provenUntil: new Date(now.getTime() - event.unseenMs) },
      });
    case 'returned':
      if (!wasSilent) return;
      oracle.comeBack(atMs);
      await proveInterval(sql, resourceId);
      return await open(vm, now);
    case 'returned-crashed':
      if (!wasSilent) return;
      oracle.stop(atMs);
      return await closeInterval(sql, { resourceId, endedAt: now });
  }
}

async function open({ id, projectId }: Vm, startedAt: Date): Promise<void> {
  await openInterval(database.sql, {
    ...{ organizationId: ORGANIZATION, projectId, resourceId: id, region: 'eu-north', startedAt },
    metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
  });
}

type Closing = { skewMs: number; closers: number; interrupted: boolean };

async function close(
  atMs: number,
  { skewMs, closers: count, interrupted }: Closing,
): Promise<void> {
  const now = new Date(ORIGIN_MS + atMs + skewMs);
  const closeOnce = async (sql: Sql) => {
    await closeDueDays(sql, now);
    await adjustClosedDays(sql);
  };
  if (interrupted) {
    const victim = closers[0] as Sql;
    const doomed = closeOnce(victim).catch(() => {});
    await database.sql`select pg_cancel_backend(pid) from pg_stat_activity
      where application_name = 'closer-1' and datname = current_database()`;
    await doomed;
  }
  // The cancellation may arrive late and hit the next statement of its victim, which tries again.
  const closeAgain = (sql: Sql) =>
    closeOnce(sql).catch(async (error) => {
      if (error.code !== QUERY_CANCELED) throw error;
      await closeOnce(sql);
    });
  await Promise.all(closers.slice(0, count).map(closeAgain));
}

type Charged = Map<string, { ms: string; cost: string }>;

/** Quantities are seconds with six decimals. The keys are a project and a day. */
async function readCharged(): Promise<Charged> {
  const rows = await database.sql<{ key: string; ms: string; cost: string }[]>`
    select project_id || ' ' || to_char(date, 'YYYY-MM-DD') as key, (sum(quantity) * 1000)::text as ms,
      sum(cost_usd)::text as cost
    from (select date, project_id, quantity, cost_usd from usage_days
      union all select date, project_id, quantity, cost_usd from usage_adjustments) charged group by 1`;
  return new Map(rows.map(({ key, ms, cost }) => [key, { ms, cost }]));
}

function expectCharged(
  { projectId }: Vm,
  { oracle, charged }: { oracle: Oracle; charged: Charged },
): void {
  for (let day = 0; day < DAYS; day += 1) {
    const date = new Date(ORIGIN_MS + day * DAY_MS).toISOString().slice(0, 10);
    const owedMs = oracle.owedMs(day * DAY_MS, (day + 1) * DAY_MS);
    const { ms, cost } = charged.get(`${projectId} ${date}`) ?? { ms: '0', cost: '0' };
    // 0.36 USD an hour are 0.0000001 USD a millisecond, so that costs are exact too.
    expect([date, Number(ms), Math.round(Number(cost) * 1e7)]).toEqual([date, owedMs, owedMs]);
  }
}
