import type { Queryable } from '../../connect.ts';

/**
 * What the payment provider has to be told about usage. The row is inserted in the transaction that
 * closes or adjusts a day. Usage without a price costs nothing and is not sent, nor is the usage of
 * organizations that the provider does not know.
 */
const isKnownToProvider = (sql: Queryable) => sql`exists (select from organizations o
  where o.id = u.organization_id and o.payment_customer_id like 'cus\\_%')`;

export async function insertDayToSend(sql: Queryable, date: string): Promise<void> {
  await sql`insert into payment_outbox (organization_id, kind, date, resource_type, billable_metric, quantity, cost_usd)
    select u.organization_id, 'usage', u.date, u.resource_type, u.billable_metric, sum(u.quantity), sum(u.cost_usd)
    from usage_days u where u.date = ${date}::text::date and ${isKnownToProvider(sql)}
    group by u.organization_id, u.date, u.resource_type, u.billable_metric
    having sum(u.cost_usd) > 0`;
}

/** A WITH member that takes the adjustments from the member `inserted`. */
export function adjustmentsToSendCte(sql: Queryable) {
  return sql`to_send as (insert into payment_outbox
      (organization_id, kind, date, resource_type, billable_metric, quantity, cost_usd, reason, adjustment_id)
    select u.organization_id, 'adjustment', u.date, u.resource_type, u.billable_metric, u.quantity, u.cost_usd,
      u.reason, u.id
    from inserted u where u.cost_usd <> 0 and ${isKnownToProvider(sql)})`;
}

export type OutboxRow = {
  id: string;
  organization_id: string;
  payment_customer_id: string;
  kind: 'usage' | 'adjustment';
  date: string;
  resource_type: string;
  billable_metric: string;
  quantity: string;
  cost_usd: string;
  reason: string;
};

/**
 * Claims the oldest rows for the calling process. Rows whose outcome has been uncertain for too long are not claimed: the provider
 * might not recognise the repetition.
 */
export async function claimOutbox(
  sql: Queryable,
  { limit, claimMs, certainMs }: { limit: number; claimMs: number; certainMs: number },
): Promise<OutboxRow[]> {
  return await sql<OutboxRow[]>`
    with claimed as (update payment_outbox set claimed_until = now() + ${claimMs} * interval '1 millisecond'
      where id in (select id from payment_outbox where sent_at is null
          and (claimed_until is null or claimed_until < now())
          and (uncertain_since is null or uncertain_since > now() - ${certainMs} * interval '1 millisecond')
        order by created_at, id limit ${limit} for update skip locked)
      returning *)
    select c.id, c.organization_id, coalesce(o.payment_customer_id, '') as payment_customer_id, c.kind,
      to_char(c.date, 'YYYY-MM-DD') as date, c.resource_type, c.billable_metric, c.quantity::text, c.cost_usd::text,
      c.reason
    from claimed c left join organizations o on o.id = c.organization_id order by c.created_at, c.id`;
}

/** The row is about to be sent: its outcome is uncertain until a reply says otherwise. */
export async function updateOutboxTried(sql: Queryable, id: string): Promise<void> {
  await sql`update payment_outbox set uncertain_since = coalesce(uncertain_since, now()) where id = ${id}`;
}

export async function releaseOutbox(sql: Queryable, ids: string[]): Promise<void> {
  await sql`update payment_outbox set claimed_until = null where id = any(${ids}::uuid[])`;
}

export async function updateOutboxSent(sql: Queryable, id: string): Promise<void> {
  await sql`update payment_outbox set sent_at = now(), claimed_until = null, uncertain_since = null, failure = ''
    where id = ${id}`;
}

/** If the provider has certainly not accepted the row, it can be repeated at any time. */
export async function updateOutboxFailed(
  sql: Queryable,
  { id, failure, certain }: { id: string; failure: string; certain: boolean },
): Promise<void> {
  await sql`update payment_outbox set failure = ${failure}, claimed_until = null,
      uncertain_since = case when ${certain} then null else uncertain_since end
    where id = ${id}`;
}

/** Counts the rows that are not sent any more, because their outcome is uncertain for too long. */
export async function countUncertain(sql: Queryable, certainMs: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from payment_outbox where sent_at is null
      and uncertain_since <= now() - ${certainMs} * interval '1 millisecond'`;
  return row?.count ?? 0;
}
