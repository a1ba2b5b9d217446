import type { Queryable } from '../../connect.ts';

/**
 * A query for the usage of a closed day, computed from the intervals as they are now, at the prices
 * of the close. It sums the part of every interval that is in the day. It multiplies before it
 * divides and sums before it rounds, so that the result is exact up to the one division by 3600 at
 * the end. A null `organizationId` means all organizations.
 */
export function usageOfDay(
  sql: Queryable,
  { date, organizationId }: { date: string; organizationId: string | null },
) {
  // Part of the statement only if it applies, so that each variant uses its index.
  const ofOrganization =
    organizationId === null ? sql`true` : sql`i.organization_id = ${organizationId}`;
  return sql`
    select u.organization_id, u.project_id, u.resource_type, u.billable_metric, u.region,
      round(case u.billable_metric when 'gb_hours' then u.unit_seconds / 3600 else u.unit_seconds end, 6) as quantity,
      round(coalesce(u.unit_seconds * p.usd_per_hour / 3600, 0), 8) as cost_usd, p.usd_per_hour is not null as priced
    from (
      select i.organization_id, i.project_id, i.resource_type, i.billable_metric, i.region,
        sum(i.units * extract(epoch from least(i.ended_at, d.until) - greatest(i.started_at, d.since))) as unit_seconds
      from meter_intervals i, (
        select ${date}::text::timestamp at time zone 'utc' as since,
          (${date}::text::timestamp + interval '1 day') at time zone 'utc' as until) d
      where i.started_at < d.until and coalesce(i.ended_at, 'infinity') > d.since
        and coalesce(i.ended_at, 'infinity') > i.started_at and ${ofOrganization}
      group by i.organization_id, i.project_id, i.resource_type, i.billable_metric, i.region) u
    left join closed_prices p on p.date = ${date}::text::date and p.resource_type = u.resource_type`;
}
