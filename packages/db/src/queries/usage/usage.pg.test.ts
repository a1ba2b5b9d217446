import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../connect.ts';
import { closeInterval, type Metered, openInterval } from './meter.ts';
import { closeDay, closeDueDays, listUsage, readLastClosedDay } from './usage.ts';

let database: TestDatabase;
const organizationId = newId();
const projectId = newId();
const vm: Metered = { metric: 'vm_seconds', vmType: 'a40.1x' };
const disk: Metered = { metric: 'gb_hours', diskType: 'persistent-ssd', sizeGb: 100 };

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate usage_days, usage_adjustments, closed_prices, closed_days, late_usage, meter_intervals`;
  await database.sql`delete from prices where resource_type = 'a40.1x'`;
});
afterAll(() => database.drop());

const open = (resourceId: string, startedAt: string, metered: Metered) =>
  openInterval(database.sql, {
    ...{ organizationId, projectId, resourceId, region: 'eu-north', metered },
    startedAt: new Date(startedAt),
  });
const close = (resourceId: string, endedAt: string) =>
  closeInterval(database.sql, { resourceId, endedAt: new Date(endedAt) });
const use = async (metered: Metered, startedAt: string, endedAt?: string) => {
  const resourceId = newId();
  await open(resourceId, startedAt, metered);
  if (endedAt) await close(resourceId, endedAt);
};
const intervals = (resourceId: string) =>
  database.sql`select started_at, ended_at, units::int from meter_intervals where resource_id = ${resourceId} order by id`;
const usage = () =>
  database.sql`select to_char(date, 'YYYY-MM-DD') as date, resource_type as type, quantity, cost_usd as cost, priced
    from usage_days order by date, resource_type`;

describe('metering', () => {
  it('that is repeated counts once, and continues after a close', async () => {
    const id = newId();
    await close(id, '2026-01-01T00:00:00Z');
    await open(id, '2026-01-01T01:00:00Z', disk);
    await open(id, '2026-01-01T02:00:00Z', disk);
    await close(id, '2026-01-01T03:00:00Z');
    await close(id, '2026-01-01T04:00:00Z');
    await open(id, '2026-01-01T05:00:00Z', { ...disk, sizeGb: 200 });
    expect(await intervals(id)).toEqual([
      {
        started_at: new Date('2026-01-01T01:00:00Z'),
        ended_at: new Date('2026-01-01T03:00:00Z'),
        units: 100,
      },
      { started_at: new Date('2026-01-01T05:00:00Z'), ended_at: null, units: 200 },
    ]);
  });

  it('by many concurrent callers opens one interval', async () => {
    const id = newId();
    await Promise.all(Array.from({ length: 8 }, () => open(id, '2026-01-01T00:00:00Z', vm)));
    expect(await intervals(id)).toHaveLength(1);
  });

  it('that ends before it starts counts nothing', async () => {
    await use(vm, '2026-01-01T02:00:00Z', '2026-01-01T01:00:00Z');
    await closeDay(database.sql, '2026-01-01');
    expect(await usage()).toEqual([]);
  });
});

describe('a closed day', () => {
  it('has the usage of that day, to the millisecond, at the prices of the time of the close', async () => {
    await database.sql`insert into prices values ('a40.1x', 0.36)`;
    await use(vm, '2025-12-31T23:59:59.001Z', '2026-01-01T00:00:10.250Z');
    await use(vm, '2026-01-01T23:59:59.500Z', '2026-01-02T07:00:00Z');
    await use(disk, '2025-11-01T00:00:00Z');
    await use({ ...disk, sizeGb: 1 }, '2026-01-01T12:00:00Z', '2026-01-01T12:00:01Z');
    await closeDay(database.sql, '2026-01-01');
    expect(await usage()).toEqual([
      // 10.75 s at 0.0001 a second; 2400 GB-hours and one GB-second at 0.00013 a GB-hour.
      {
        ...{ date: '2026-01-01', type: 'a40.1x' },
        ...{ quantity: '10.750000', cost: '0.00107500', priced: true },
      },
      {
        ...{ date: '2026-01-01', type: 'persistent-ssd' },
        ...{ quantity: '2400.000278', cost: '0.31200004', priced: true },
      },
    ]);
  });

  it('does not depend on the time zone of the session', async () => {
    await use(vm, '2026-01-01T22:00:00Z', '2026-01-02T02:00:00Z');
    await database.sql.unsafe(
      `alter database ${new URL(database.url).pathname.slice(1)} set timezone to 'Pacific/Auckland'`,
    );
    const elsewhere = connect({ url: database.url, name: 'elsewhere', maxConnections: 1 });
    try {
      expect(await closeDueDays(elsewhere, new Date('2026-01-03T01:00:00Z'))).toEqual([
        '2026-01-01',
        '2026-01-02',
      ]);
    } finally {
      await elsewhere.end();
      await database.sql.unsafe(
        `alter database ${new URL(database.url).pathname.slice(1)} reset timezone`,
      );
    }
    expect((await usage()).map(({ quantity }) => quantity)).toEqual(['7200.000000', '7200.000000']);
  });

  it('without a price costs 0 and is marked as unpriced, also if a price is set later', async () => {
    await use(vm, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z');
    expect(await closeDay(database.sql, '2026-01-01')).toBe(true);
    await database.sql`insert into prices values ('a40.1x', 5)`;
    expect(await closeDay(database.sql, '2026-01-01')).toBe(false);
    expect(await usage()).toMatchObject([
      { quantity: '3600.000000', cost: '0.00000000', priced: false },
    ]);
  });

  it('is closed once by many concurrent callers', async () => {
    await use(vm, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z');
    const closed = await Promise.all(
      Array.from({ length: 8 }, () => closeDay(database.sql, '2026-01-01')),
    );
    expect(closed.filter(Boolean)).toHaveLength(1);
    expect(await usage()).toHaveLength(1);
  });

  it('stays open if its close fails midway', async () => {
    await use(vm, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z');
    await database.sql`alter table usage_days add constraint no_usage check (quantity < 0)`;
    await expect(closeDay(database.sql, '2026-01-01')).rejects.toThrow('no_usage');
    await database.sql`alter table usage_days drop constraint no_usage`;
    expect(await readLastClosedDay(database.sql)).toBeUndefined();
    expect(await closeDay(database.sql, '2026-01-01')).toBe(true);
    expect(await usage()).toHaveLength(1);
  });
});

describe('days that are due', () => {
  const due = (now: string) => closeDueDays(database.sql, new Date(now));

  it('are none before the first usage', async () => {
    expect(await due('2026-01-01T12:00:00Z')).toEqual([]);
  });

  it('ended at least five minutes ago', async () => {
    await use(vm, '2026-01-01T10:00:00Z');
    expect(await due('2026-01-02T00:04:59.999Z')).toEqual([]);
    expect(await due('2026-01-02T00:05:00Z')).toEqual(['2026-01-01']);
    expect(await due('2026-01-02T00:06:00Z')).toEqual([]);
  });

  it('are all closed after a week of downtime, including days without usage', async () => {
    await use(vm, '2025-12-28T12:00:00Z', '2025-12-28T13:00:00Z');
    expect(await due('2025-12-29T00:05:00Z')).toEqual(['2025-12-28']);
    await use(vm, '2026-01-03T00:00:00Z', '2026-01-03T00:00:01Z');
    expect(await due('2026-01-05T09:00:00Z')).toEqual([
      ...['2025-12-29', '2025-12-30', '2025-12-31'],
      ...['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04'],
    ]);
    expect(await readLastClosedDay(database.sql)).toBe('2026-01-04');
    expect((await usage()).map(({ date }) => date)).toEqual(['2025-12-28', '2026-01-03']);
  });
});

describe('a scheduler whose clock is ten days fast', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.now() + 10 * 86_400_000, toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('opens and closes intervals at the time of the database', async () => {
    const resourceId = newId();
    const metering = { organizationId, projectId, resourceId, region: 'eu-north', metered: vm };
    await openInterval(database.sql, metering);
    await closeInterval(database.sql, { resourceId });
    const fast = await database.sql`select from meter_intervals
      where resource_id = ${resourceId} and (started_at > now() or ended_at > now())`;
    expect(fast).toHaveLength(0);
  });

  it('closes only the days that have ended by the clock of the database', async () => {
    const [row] = await database.sql`select now() - interval '2 days' as past,
      to_char(now(), 'YYYY-MM-DD') as today`;
    await use(vm, row?.['past'].toISOString());
    const closed = await closeDueDays(database.sql);
    expect(closed.length).toBeGreaterThan(0);
    expect(closed.filter((date) => date >= row?.['today'])).toEqual([]);
  });
});

it('usage is listed as numbers, filtered, and only for one organization', async () => {
  await use(vm, '2026-01-01T23:00:00Z', '2026-01-02T01:00:00Z');
  await use(disk, '2026-01-01T00:00:00Z', '2026-01-01T06:00:00Z');
  await closeDueDays(database.sql, new Date('2026-01-03T01:00:00Z'));
  const everything = {
    ...{ organizationId, startDate: '2026-01-01', endDate: '2026-01-02' },
    ...{ visibleProjects: null, projects: null, resourceTypes: null, regions: null },
  };
  const list = async (filter: Partial<typeof everything> | object) =>
    (await listUsage(database.sql, { ...everything, ...filter })).map(
      ({ date, resource_type }) => `${date} ${resource_type}`,
    );
  const [first] = await listUsage(database.sql, everything);
  expect(first).toEqual({
    ...{ date: '2026-01-01', project_id: projectId, region: 'eu-north' },
    ...{ resource_type: 'a40.1x', billable_metric: 'vm_seconds', quantity: 3600 },
    ...{ cost_usd: 0, priced: false, adjustment_reason: '', adjusted_at: null },
  });
  const all = ['2026-01-01 a40.1x', '2026-01-01 persistent-ssd', '2026-01-02 a40.1x'];
  expect(await list({})).toEqual(all);
  expect(await list({ visibleProjects: [projectId], projects: [projectId] })).toEqual(all);
  expect(await list({ startDate: '2026-01-02' })).toEqual(all.slice(2));
  expect(await list({ endDate: '2026-01-01' })).toEqual(all.slice(0, 2));
  expect(await list({ resourceTypes: ['persistent-ssd', 'other'] })).toEqual([all[1]]);
  expect(await list({ regions: ['us-east'] })).toEqual([]);
  expect(await list({ visibleProjects: [] })).toEqual([]);
  expect(await list({ projects: [newId()] })).toEqual([]);
  expect(await list({ organizationId: newId() })).toEqual([]);
});
