import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustClosedDays } from './adjustments.ts';
import { closeInterval, closeUnproven, openInterval, proveInterval } from './meter.ts';
import { closeDay, closeDueDays } from './usage.ts';

let database: TestDatabase;
const organizationId = newId();
const projectId = newId();
const DAY = '2026-01-05';

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`insert into organizations (id, name, payment_customer_id) values (${organizationId}, 'acme', 'cus_1')`;
});
beforeEach(async () => {
  await database.sql`truncate usage_days, usage_adjustments, closed_prices, closed_days, late_usage, meter_intervals, payment_outbox`;
  await setPrice(3.6);
});
afterAll(() => database.drop());

const at = (time: string, day = DAY) => new Date(`${day}T${time}:00Z`);
const setPrice = (usd: number) =>
  database.sql`insert into prices values ('a40.1x', ${usd})
    on conflict (resource_type) do update set usd_per_hour = excluded.usd_per_hour`;
const open = (resourceId: string, startedAt: Date) =>
  openInterval(database.sql, {
    ...{ organizationId, projectId, resourceId, region: 'eu-north', startedAt },
    metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
  });
const use = async (startedAt: Date, endedAt: Date) => {
  const resourceId = newId();
  await open(resourceId, startedAt);
  await closeInterval(database.sql, { resourceId, endedAt });
};
const adjustments = () =>
  database.sql`select to_char(date, 'YYYY-MM-DD') as date, quantity::int, cost_usd::float8 as cost
    from usage_adjustments order by date, created_at`;
const charged = () =>
  database.sql`select to_char(date, 'YYYY-MM-DD') as date, quantity::int, cost_usd::float8 as cost
    from usage_days order by date`;

describe('an adjustment', () => {
  it('adds usage that became known late, at the price of the close', async () => {
    await use(at('10:00'), at('11:00'));
    await closeDay(database.sql, DAY);
    await adjustClosedDays(database.sql);
    expect(await adjustments()).toEqual([]);
    await setPrice(1000);
    await use(at('12:00'), at('12:30'));
    expect(await adjustClosedDays(database.sql)).toEqual([
      { date: DAY, organizationId, adjustments: 1 },
    ]);
    expect(await adjustments()).toEqual([{ date: DAY, quantity: 1800, cost: 1.8 }]);
    expect(await charged()).toEqual([{ date: DAY, quantity: 3600, cost: 3.6 }]);
    expect(await adjustClosedDays(database.sql)).toEqual([]);
  });

  it('refunds what turned out not to have run, on every day that was charged', async () => {
    const resourceId = newId();
    await open(resourceId, at('12:00', '2026-01-03'));
    await closeDueDays(database.sql, at('08:00', '2026-01-06'));
    // No scheduler ran for two days, in which the host died.
    await closeUnproven(database.sql, {
      ...{ resourceId, provenUntil: at('18:00', '2026-01-03'), now: at('08:05', '2026-01-06') },
    });
    await adjustClosedDays(database.sql);
    expect(await adjustments()).toEqual([
      { date: '2026-01-03', quantity: -21_600, cost: -21.6 },
      { date: '2026-01-04', quantity: -86_400, cost: -86.4 },
      { date: '2026-01-05', quantity: -86_400, cost: -86.4 },
    ]);
    // The host comes back and proves that the VM ran: the refund is taken back.
    await proveInterval(database.sql, resourceId);
    await adjustClosedDays(database.sql);
    const [sum] =
      await database.sql`select sum(quantity)::int as quantity, sum(cost_usd)::int as cost
      from usage_adjustments`;
    expect(sum).toEqual({ quantity: 0, cost: 0 });
  });

  it('is inserted once by many concurrent processes', async () => {
    await closeDay(database.sql, DAY);
    await use(at('12:00'), at('12:30'));
    await Promise.all(Array.from({ length: 6 }, () => adjustClosedDays(database.sql)));
    expect(await adjustments()).toEqual([{ date: DAY, quantity: 1800, cost: 1.8 }]);
  });

  it('waits for a change that is not committed', async () => {
    await closeDay(database.sql, DAY);
    const resourceId = newId();
    await database.sql.begin(async (tx) => {
      await openInterval(tx, {
        ...{ organizationId, projectId, resourceId, region: 'eu-north', startedAt: at('10:00') },
        metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
      });
      await closeInterval(tx, { resourceId, endedAt: at('11:00') });
      expect(await adjustClosedDays(database.sql)).toEqual([]);
    });
    await adjustClosedDays(database.sql);
    expect(await adjustments()).toEqual([{ date: DAY, quantity: 3600, cost: 3.6 }]);
  });

  it('is found a day later if its change left no note', async () => {
    await closeDay(database.sql, DAY);
    await use(at('12:00'), at('12:30'));
    // As if the transaction had metered before midnight and committed after the close.
    await database.sql`truncate late_usage`;
    await closeDay(database.sql, '2026-01-06');
    expect(await adjustments()).toEqual([{ date: DAY, quantity: 1800, cost: 1.8 }]);
  });
});

describe('a closed day', () => {
  it.each([
    ['changed', 'update usage_days set quantity = 1'],
    ['removed', 'delete from usage_days'],
    ['opened again', 'delete from closed_days'],
    ['priced again', 'update closed_prices set usd_per_hour = 1'],
    [
      'extended',
      `insert into usage_days select '${DAY}', organization_id, gen_random_uuid(), resource_type, billable_metric,
        region, quantity, cost_usd, priced from usage_days`,
    ],
    ['adjusted twice', 'update usage_adjustments set quantity = 1'],
    ['freed of its adjustments', 'delete from usage_adjustments'],
  ])('cannot be %s: the database refuses it', async (_, statement) => {
    await use(at('10:00'), at('11:00'));
    await closeDay(database.sql, DAY);
    await use(at('12:00'), at('12:30'));
    await adjustClosedDays(database.sql);
    const before = [await charged(), await adjustments()];
    await expect(database.sql.unsafe(statement)).rejects.toMatchObject({ code: '23001' });
    expect([await charged(), await adjustments()]).toEqual(before);
  });
});

describe('the payment provider', () => {
  it('is told the usage of a day and each adjustment once, in the transaction that records it', async () => {
    await use(at('10:00'), at('11:00'));
    await use(at('10:00'), at('10:30'));
    await closeDay(database.sql, DAY);
    await use(at('12:00'), at('12:30'));
    await adjustClosedDays(database.sql);
    await adjustClosedDays(database.sql);
    expect(
      await database.sql`select kind, quantity::int, cost_usd::float8 as cost, reason <> '' as explained
        from payment_outbox where organization_id = ${organizationId} order by created_at`,
    ).toEqual([
      { kind: 'usage', quantity: 5400, cost: 5.4, explained: false },
      { kind: 'adjustment', quantity: 1800, cost: 1.8, explained: true },
    ]);
  });
});
