import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDay, closeDueDays } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, type Fields, startWorld, TIMESTAMP, type World } from './support.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.api.stop());

type Metered = Parameters<typeof openInterval>[1]['metered'];
const A40: Metered = { metric: 'vm_seconds', vmType: 'a40.1x' };

/** Writes metering rows as the scheduler does: when a VM ran and when a disk existed. */
async function meter(metered: Metered, from: string, to: string): Promise<void> {
  const { sql } = world.api;
  const resourceId = newId();
  const { organizationId, projectId } = world.tenant;
  await openInterval(sql, {
    ...{ organizationId, projectId, resourceId, region: 'eu-north', metered },
    startedAt: new Date(from),
  });
  await closeInterval(sql, { resourceId, endedAt: new Date(to) });
}

const usageOf = async (date: string): Promise<Fields[]> =>
  (await world.get(`${world.O}/usage?start_date=${date}&end_date=${date}`)).body.items;

describe('docs/contract/usage.md#usage: metering and prices', () => {
  it('VM time counts by the second while RUNNING, and disks cost 0.00013 USD per GB and hour', async () => {
    const day = '2026-03-01';
    await meter(A40, `${day}T10:00:00Z`, `${day}T10:00:07Z`);
    await meter(A40, `${day}T12:00:00Z`, `${day}T12:01:00Z`);
    await meter({ metric: 'vm_seconds', vmType: 'a40.2x' }, `${day}T10:00:00Z`, `${day}T10:00:01Z`);
    const disk = { metric: 'gb_hours', diskType: 'persistent-ssd', sizeGb: 100 } as const;
    await meter(disk, `${day}T00:00:00Z`, `${day}T10:00:00Z`);
    await closeDay(world.api.sql, day);
    const common = { date: day, project_id: world.tenant.projectId, region: 'eu-north' };
    expect(await usageOf(day)).toMatchObject([
      { ...common, resource_type: 'a40.1x', billable_metric: 'vm_seconds', quantity: 67 },
      { ...common, resource_type: 'a40.2x', billable_metric: 'vm_seconds', quantity: 1 },
      {
        ...{ ...common, resource_type: 'persistent-ssd', billable_metric: 'gb_hours' },
        ...{ quantity: 1000, cost_usd: 0.13 },
      },
    ]);
  });

  it('operators set prices; without a price the cost is 0 and marked', async () => {
    const hour = (day: string) => meter(A40, `${day}T10:00:00Z`, `${day}T11:00:00Z`);
    await hour('2026-03-02');
    await closeDay(world.api.sql, '2026-03-02');
    expect(await usageOf('2026-03-02')).toMatchObject([
      { quantity: 3600, cost_usd: 0, priced: false },
    ]);
    const price = { usd_per_hour: 1.25 };
    expectRefusal(await world.owner.put('/admin/prices/a40.1x', price), 403, 'forbidden');
    expect((await world.operator.put('/admin/prices/a40.1x', price)).status).toBe(200);
    await hour('2026-03-03');
    await closeDay(world.api.sql, '2026-03-03');
    expect(await usageOf('2026-03-03')).toMatchObject([{ cost_usd: 1.25, priced: true }]);
    expect(await usageOf('2026-03-02')).toMatchObject([{ cost_usd: 0, priced: false }]);
  });

  it('a day is closed once, shortly after midnight UTC', async () => {
    const { sql } = world.api;
    await meter(A40, '2026-03-04T23:00:00Z', '2026-03-05T01:00:00Z');
    await closeDueDays(sql, new Date('2026-03-04T23:59:59Z'));
    expect(await usageOf('2026-03-04')).toEqual([]);
    const closers = Array.from({ length: 4 }, () =>
      closeDueDays(sql, new Date('2026-03-05T00:15:00Z')),
    );
    expect((await Promise.all(closers)).flat()).toEqual(['2026-03-04']);
    expect(await closeDueDays(sql, new Date('2026-03-05T08:00:00Z'))).toEqual([]);
    expect(await usageOf('2026-03-04')).toMatchObject([{ quantity: 3600 }]);
  });

  it('tenants see the prices; persistent disks cost 0.00013 USD per GB and hour', async () => {
    await world.operator.put('/admin/prices/a40.2x', { usd_per_hour: 2.5 });
    const { status, body } = await world.get(`${world.P}/prices`);
    expect(status).toBe(200);
    expect(body.items).toContainEqual({
      ...{ resource_type: 'persistent-ssd', billable_metric: 'gb_hours', usd_per_hour: 0.00013 },
    });
    expect(body.items).toContainEqual({
      ...{ resource_type: 'a40.2x', billable_metric: 'vm_seconds', usd_per_hour: 2.5 },
    });
  });

  it('usage that becomes known after its day was closed is an adjustment of that day', async () => {
    const { sql } = world.api;
    const day = '2026-03-10';
    await world.operator.put('/admin/prices/a40.4x', { usd_per_hour: 2 });
    const A40X4: Metered = { metric: 'vm_seconds', vmType: 'a40.4x' };
    await meter(A40X4, `${day}T10:00:00Z`, `${day}T11:00:00Z`);
    await closeDay(sql, day);
    await world.operator.put('/admin/prices/a40.4x', { usd_per_hour: 100 });
    await meter(A40X4, `${day}T12:00:00Z`, `${day}T12:30:00Z`);
    expect(await adjustClosedDays(sql)).toMatchObject([{ date: day, adjustments: 1 }]);
    expect(await usageOf(day)).toMatchObject([
      { quantity: 3600, cost_usd: 2, adjustment_reason: '', adjusted_at: '' },
      {
        ...{ date: day, quantity: 1800, cost_usd: 1, priced: true },
        adjustment_reason: 'the usage became known after the day was closed',
        adjusted_at: expect.stringMatching(TIMESTAMP),
      },
    ]);
  });
});
