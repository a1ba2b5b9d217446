import type { Queryable, Sql } from '../../connect.ts';
import { insertAdjustments, lockClosing } from './adjustments.ts';
import { insertDayToSend } from './payment-outbox.ts';
import { usageOfDay } from './usage-of-day.ts';

/**
 * Closing a day makes its usage final: triggers refuse any later change. The row in closed_days, the
 * prices and the usage are written in one transaction, so a day is closed completely or not at all.
 * If a process dies midway, the next run closes the day. Of several processes the first closes it;
 * the others wait and find it closed. What becomes known later is an adjustment (adjustments.ts).
 * Days are UTC; dates are text of the form 2026-01-31.
 */

/** How long after midnight a day stays open, so that reports from before midnight have arrived. */
const GRACE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

/** Closes the day with the current prices. Returns false if it is closed already. */
export async function closeDay(sql: Sql, date: string): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await lockClosing(tx);
    const inserted = await tx`
      insert into closed_days (date) values (${date}::text::date) on conflict do nothing returning date`;
    if (inserted.length === 0) return false;
    // The statements are pipelined and run in this order.
    await Promise.all([
      insertPrices(tx, date),
      insertUsage(tx, date),
      insertDayToSend(tx, date),
      adjustDayBefore(tx, date),
    ]);
    return true;
  });
}

async function insertPrices(sql: Queryable, date: string): Promise<void> {
  await sql`insert into closed_prices (date, resource_type, usd_per_hour)
    select ${date}::text::date, resource_type, usd_per_hour from prices`;
}

async function insertUsage(sql: Queryable, date: string): Promise<void> {
  await sql`insert into usage_days
      (date, organization_id, project_id, resource_type, billable_metric, region, quantity, cost_usd, priced)
    select ${date}::text::date, organization_id, project_id, resource_type, billable_metric, region, quantity,
      cost_usd, priced
    from (${usageOfDay(sql, { date, organizationId: null })}) used`;
}

/**
 * A transaction that metered before midnight and committed after the close left no note of late
 * usage: when it metered, its day was not over. So every closed day is compared once more, a day
 * later.
 */
async function adjustDayBefore(sql: Queryable, date: string): Promise<void> {
  const before = isoDate(Date.parse(date) - DAY_MS);
  await insertAdjustments(sql, { date: before, organizationId: null });
}

/**
 * Closes every day that is over and still open, oldest first. Returns the days that it closed. Days
 * are closed in order, so the first one that is due follows the last one that was closed. The
 * database's clock decides which days are over, because a scheduler with a fast clock would make
 * the usage of a day final while the day is not over. Tests may give another moment.
 */
export async function closeDueDays(sql: Sql, now?: Date): Promise<string[]> {
  const lastDue = isoDate((now ?? (await readNow(sql))).getTime() - GRACE_MS - DAY_MS);
  const due = await sql<{ date: string }[]>`
    select to_char(day, 'YYYY-MM-DD') as date
    from (select coalesce((select max(date) + 1 from closed_days)::timestamp,
        (select min(started_at) at time zone 'utc' from meter_intervals)) as at) first,
      generate_series(date_trunc('day', first.at), ${lastDue}::text::timestamp, interval '1 day') day
    where not exists (select from closed_days c where c.date = day::date)
    order by day`;
  const closed: string[] = [];
  for (const { date } of due) {
    if (await closeDay(sql, date)) closed.push(date);
  }
  return closed;
}

async function readNow(sql: Queryable): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select now() as now`;
  if (!row) throw new Error('BUG: the database has no time');
  return row.now;
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export async function readLastClosedDay(sql: Queryable): Promise<string | undefined> {
  const [row] = await sql<{ date: string | null }[]>`
    select to_char(max(date), 'YYYY-MM-DD') as date from closed_days`;
  return row?.date ?? undefined;
}

export type UsageRow = {
  date: string;
  project_id: string;
  resource_type: string;
  billable_metric: string;
  quantity: number;
  region: string;
  cost_usd: number;
  priced: boolean;
  /** Of an adjustment; empty for the usage that a day was closed with. */
  adjustment_reason: string;
  adjusted_at: Date | null;
};

export type UsageFilter = {
  organizationId: string;
  /** Both included. */
  startDate: string;
  endDate: string;
  /** The projects that the caller may see, and the requested ones; null means all. */
  visibleProjects: string[] | null;
  projects: string[] | null;
  resourceTypes: string[] | null;
  regions: string[] | null;
};

/** Lists the usage that each day was closed with, followed by the adjustments of the day. */
export async function listUsage(sql: Queryable, filter: UsageFilter): Promise<UsageRow[]> {
  return await sql<UsageRow[]>`
    select to_char(date, 'YYYY-MM-DD') as date, project_id, resource_type, billable_metric,
      quantity::float8 as quantity, region, cost_usd::float8 as cost_usd, priced, adjustment_reason, adjusted_at
    from (
      select date, organization_id, project_id, resource_type, billable_metric, quantity, region, cost_usd, priced,
        '' as adjustment_reason, null::timestamptz as adjusted_at from usage_days
      union all
      select date, organization_id, project_id, resource_type, billable_metric, quantity, region, cost_usd, priced,
        reason, created_at from usage_adjustments) u
    where organization_id = ${filter.organizationId}
      and date between ${filter.startDate}::text::date and ${filter.endDate}::text::date
      and (${filter.visibleProjects}::uuid[] is null or project_id = any(${filter.visibleProjects}::uuid[]))
      and (${filter.projects}::uuid[] is null or project_id = any(${filter.projects}::uuid[]))
      and (${filter.resourceTypes}::text[] is null or resource_type = any(${filter.resourceTypes}::text[]))
      and (${filter.regions}::text[] is null or region = any(${filter.regions}::text[]))
    order by u.date, project_id, resource_type, billable_metric, region, adjusted_at nulls first`;
}
