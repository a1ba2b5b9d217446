import type { Queryable, Sql } from '../../connect.ts';
import { adjustmentsToSendCte } from './payment-outbox.ts';
import { usageOfDay } from './usage-of-day.ts';

/**
 * Adjusts closed days. What was charged for a closed day never changes; if the intervals of the day
 * change afterwards, the difference becomes a row in usage_adjustments.
 *
 * A trigger notes in late_usage every change of an interval that reaches back to an earlier day, in
 * the transaction of the change. The scheduler takes the notes, computes the usage of the closed
 * days again, compares it with what was charged, and inserts the differences. All of this is one
 * transaction: if a process dies midway, the notes stay and the next run continues. An adjustment
 * is the difference to everything that was charged before, so a repeated run adds nothing.
 *
 * Closing and adjusting are serialised (see `lockClosing`). Otherwise a day could be closed by a
 * transaction that does not see the change yet, while the note of the change is dropped because the
 * day does not seem to be closed.
 */

/** Serialises everything that closes or adjusts days. It does not keep anyone from metering. */
export async function lockClosing(sql: Queryable): Promise<void> {
  await sql`lock table closed_days in share row exclusive mode`;
}

const BATCH_ROWS = 500;

export type AdjustedDay = { date: string; organizationId: string; adjustments: number };

/** Returns what was adjusted. Any number of processes can do this at the same time. */
export async function adjustClosedDays(sql: Sql): Promise<AdjustedDay[]> {
  const adjusted: AdjustedDay[] = [];
  for (;;) {
    const pending = await sql`select from late_usage limit 1`;
    if (pending.length === 0) return adjusted;
    adjusted.push(...(await sql.begin(adjustBatch)));
  }
}

async function adjustBatch(sql: Queryable): Promise<AdjustedDay[]> {
  await lockClosing(sql);
  const days = await sql<{ date: string; organization_id: string }[]>`
    with late as (delete from late_usage
      where number in (select number from late_usage order by number limit ${BATCH_ROWS}) returning *)
    select distinct to_char(c.date, 'YYYY-MM-DD') as date, l.organization_id
    from late l join closed_days c on c.date >= (l.since at time zone 'utc')::date
      and (l.until is null or c.date <= (l.until at time zone 'utc')::date)
    order by 1, 2`;
  const adjusted: AdjustedDay[] = [];
  for (const { date, organization_id: organizationId } of days) {
    const adjustments = await insertAdjustments(sql, { date, organizationId });
    if (adjustments > 0) adjusted.push({ date, organizationId, adjustments });
  }
  return adjusted;
}

/**
 * Inserts the difference between the usage of a closed day and what was charged for it. The caller
 * holds the lock. A null `organizationId` means all organizations. Returns the number of rows; none
 * if the day is not closed, or so old that its intervals may be gone.
 */
export async function insertAdjustments(
  sql: Queryable,
  day: { date: string; organizationId: string | null },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with inserted as (insert into usage_adjustments
      (date, organization_id, project_id, resource_type, billable_metric, region, quantity, cost_usd, priced, reason)
    select ${day.date}::text::date, organization_id, project_id, resource_type, billable_metric, region,
      sum(quantity), sum(cost_usd), bool_and(priced),
      case when sum(quantity) < 0 then 'the day was charged for time that was not used'
        else 'the usage became known after the day was closed' end
    from (
      select organization_id, project_id, resource_type, billable_metric, region, quantity, cost_usd, priced
      from (${usageOfDay(sql, day)}) used
      union all ${chargedOfDay(sql, { ...day, table: 'usage_days' })}
      union all ${chargedOfDay(sql, { ...day, table: 'usage_adjustments' })}) entries
    group by organization_id, project_id, resource_type, billable_metric, region
    having (sum(quantity) <> 0 or sum(cost_usd) <> 0)
      and exists (select from closed_days where date = ${day.date}::text::date)
      and ${day.date}::text::date >= (select metered_since at time zone 'utc' from installation)
    returning *), ${adjustmentsToSendCte(sql)}
    select count(*)::int as count from inserted`;
  return row?.count ?? 0;
}

/** What was charged counts with the opposite sign, so that the sum is the difference. */
function chargedOfDay(
  sql: Queryable,
  {
    date,
    organizationId,
    table,
  }: { date: string; organizationId: string | null; table: 'usage_days' | 'usage_adjustments' },
) {
  return sql`select organization_id, project_id, resource_type, billable_metric, region, -quantity, -cost_usd, priced
    from ${sql(table)} where date = ${date}::text::date
      and (${organizationId}::uuid is null or organization_id = ${organizationId}::uuid)`;
}
