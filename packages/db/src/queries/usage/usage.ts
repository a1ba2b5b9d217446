import type { Queryable, Sql } from '../../connect.ts';

/**
 * Closing a day makes its usage final. The row in closed_days and the usage are written in one
 * transaction, so a day is closed completely or not at all. If a process dies midway, the next run
 * closes the day. Of several processes the first closes it; the others wait and find it closed.
 * Days are UTC; dates are text of the form 2026-01-31.
 */

/** How long after midnight a day stays open, so that reports from before midnight have arrived. */
const GRACE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

/** Closes the day with the current prices. Returns false if it is closed already. */
export async function closeDay(sql: Sql, date: string): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const inserted = await tx`
      insert into closed_days (date) values (${date}::text::date) on conflict do nothing returning date`;
    if (inserted.length === 0) return false;
    await insertUsage(tx, date);
    return true;
  });
}

/**
 * Sums the part of every interval that is in the day. It multiplies before it divides and sums
 * before it rounds, so that the result is exact up to the one division by 3600 at the end.
 */
async function insertUsage(sql: Queryable, date: string): Promise<void> {
  await sql`
    insert into usage_days
      (date, organization_id, project_id, resource_type, billable_metric, region, quantity, cost_usd, priced)
    select ${date}::text::date, u.organization_id, u.project_id, u.resource_type, u.billable_metric, u.region,
      case u.billable_metric when 'gb_hours' then u.unit_seconds / 3600 else u.unit_seconds end,
      coalesce(u.unit_seconds * p.usd_per_hour / 3600, 0), p.usd_per_hour is not null
    from (
      select i.organization_id, i.project_id, i.resource_type, i.billable_metric, i.region,
        sum(i.units * extract(epoch from least(i.ended_at, d.until) - greatest(i.started_at, d.since))) as unit_seconds
      from meter_intervals i, (
        select ${date}::text::timestamp at time zone 'utc' as since,
          (${date}::text::timestamp + interval '1 day') at time zone 'utc' as until) d
      where i.started_at < d.until and (i.ended_at is null or i.ended_at > greatest(d.since, i.started_at))
      group by i.organization_id, i.project_id, i.resource_type, i.billable_metric, i.region) u
    left join prices p on p.resource_type = u.resource_type`;
}

/**
 * Closes every day that is over and still open, oldest first. Returns the days that it closed. The
 * database's clock decides which days are over, because a scheduler with a fast clock would make
 * the usage of a day final while the day is not over. Tests may give another moment.
 */
export async function closeDueDays(sql: Sql, now?: Date): Promise<string[]> {
  const lastDue = isoDate((now ?? (await readNow(sql))).getTime() - GRACE_MS - DAY_MS);
  const due = await sql<{ date: string }[]>`
    select to_char(day, 'YYYY-MM-DD') as date
    from (select min(started_at) at time zone 'utc' as at from meter_intervals) first,
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

export async function listUsage(sql: Queryable, filter: UsageFilter): Promise<UsageRow[]> {
  return await sql<UsageRow[]>`
    select to_char(date, 'YYYY-MM-DD') as date, project_id, resource_type, billable_metric,
      quantity::float8 as quantity, region, cost_usd::float8 as cost_usd, priced
    from usage_days
    where organization_id = ${filter.organizationId}
      and date between ${filter.startDate}::text::date and ${filter.endDate}::text::date
      and (${filter.visibleProjects}::uuid[] is null or project_id = any(${filter.visibleProjects}::uuid[]))
      and (${filter.projects}::uuid[] is null or project_id = any(${filter.projects}::uuid[]))
      and (${filter.resourceTypes}::text[] is null or resource_type = any(${filter.resourceTypes}::text[]))
      and (${filter.regions}::text[] is null or region = any(${filter.regions}::text[]))
    order by usage_days.date, project_id, resource_type, billable_metric, region`;
}
