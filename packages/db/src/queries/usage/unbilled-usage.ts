import type { Queryable } from '../../connect.ts';

/**
 * Returns whether the organization uses something now, or has used something that is not on a bill
 * yet: its day is not closed, a closed day is still to be adjusted, or the payment provider has not
 * been told.
 */
export async function hasUnbilledUsage(sql: Queryable, organizationId: string): Promise<boolean> {
  const [row] = await sql<{ unbilled: boolean }[]>`
    select (select true from meter_intervals i where i.organization_id = ${organizationId}
        and coalesce(i.ended_at, 'infinity') > i.started_at and coalesce(i.ended_at, 'infinity') > coalesce(
          (select (max(date) + 1)::timestamp at time zone 'utc' from closed_days), '-infinity')
        order by coalesce(i.ended_at, 'infinity') desc limit 1) is not null
      or exists (select from late_usage l where l.organization_id = ${organizationId})
      or exists (select from payment_outbox o where o.organization_id = ${organizationId} and o.sent_at is null)
      as unbilled`;
  return row?.unbilled ?? false;
}
