import type { Queryable, Sql } from '../../connect.ts';
import { transact } from '../../transact.ts';
import { FIRST_ID } from '../page-bounds.ts';
import { lockClosing } from '../usage/adjustments.ts';

/**
 * Removes history that is older than its retention, in batches, so that each transaction is short and
 * holds few locks. Ids are UUIDv7, so the oldest rows are the first ones of the primary key: a batch
 * reads as many rows as it removes, however large the table is. Any number of processes can do this at
 * the same time.
 */

/** How many days each kind of history is kept. */
export type Retention = {
  operations: number;
  events: number;
  auditLogs: number;
  receipts: number;
  metering: number;
  streamEvents: number;
  webhookDeliveries: number;
};

export type Batch = {
  limit: number;
  /** `next` of the previous batch; null for the first one. */
  after: string | null;
};
/** `next` is null if nothing is left. */
export type Removed = { removed: number; next: string | null };

const before = (sql: Queryable, days: number) => sql`now() - ${days}::int * interval '1 day'`;

/** The smallest id that could have been created so many days ago. */
export const firstId = (sql: Queryable, days: number) =>
  sql`(lpad(to_hex(floor(extract(epoch from ${before(sql, days)}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

const next = (count: number, limit: number) => (count < limit ? null : FIRST_ID);

/** A batch can see rows that stay, so the next one starts after the last row that was seen. */
type Seen = { removed: number; seen: number; last: string | null };
const nextAfter = (row: Seen | undefined, limit: number): Removed => ({
  removed: row?.removed ?? 0,
  next: row && row.seen === limit ? row.last : null,
});

/** The last operation of a resource stays as long as the resource: it may say why a VM is in error. */
export async function removeOldOperations(
  sql: Queryable,
  { limit, after, days }: Batch & { days: number },
): Promise<Removed> {
  const [row] = await sql<Seen[]>`
    with old as materialized (select id from operations
      where id > ${after ?? FIRST_ID} and id < ${firstId(sql, days)} and completed_at < ${before(sql, days)}
      order by id limit ${limit} for update skip locked),
    removed as (delete from operations o where o.id = any(array(select id from old))
      and (exists (select from operations n where n.resource_id = o.resource_id and n.id > o.id)
        or not exists (select from vms v where v.id = o.resource_id)
        and not exists (select from disks d where d.id = o.resource_id)
        and not exists (select from firewall_rules r where r.id = o.resource_id))
      returning o.id)
    select (select count(*)::int from removed) as removed, (select count(*)::int from old) as seen,
      (select id from old order by id desc limit 1) as last`;
  return nextAfter(row, limit);
}

export async function removeOldEvents(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`delete from events where id = any(array(
    select id from events where id < ${firstId(sql, days)} order by id limit ${limit} for update skip locked))`;
  return { removed: count, next: next(count, limit) };
}

/** Samples are kept as long as events: both are what operators look back at. */
export async function removeOldCapacitySamples(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`
    delete from capacity_samples s using (
      select at, location, model from capacity_samples where at < ${before(sql, days)}
      order by at limit ${limit} for update skip locked) old
    where (s.at, s.location, s.model) = (old.at, old.location, old.model)`;
  return { removed: count, next: next(count, limit) };
}

/** The last reading of each device stays, because it is still valid. */
export async function removeOldDeviceReadings(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`
    delete from device_readings r using (
      select device_id, hour from device_readings o where hour < ${before(sql, days)}
        and exists (select from device_readings n where n.device_id = o.device_id and n.hour > o.hour)
      order by hour limit ${limit} for update skip locked) old
    where (r.device_id, r.hour) = (old.device_id, old.hour)`;
  return { removed: count, next: next(count, limit) };
}

/** A rollout is kept as long as the audit log, which names it. Its hosts are removed with it. */
export async function removeOldRollouts(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`delete from rollouts where id = any(array(
    select id from rollouts where id < ${firstId(sql, days)} and ended_at < ${before(sql, days)}
    order by id limit ${limit} for update skip locked))`;
  return { removed: count, next: next(count, limit) };
}

/**
 * Removes the first stream events, all events of a transaction together. Streams find in `stream_since`
 * that they cannot continue before, so it is committed with the removal. Another process that is at it
 * removes the same events, so this one does nothing meanwhile.
 */
export async function removeOldStreamEvents(
  sql: Sql,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  return await transact(sql, async (tx) => {
    const free = await tx`select from installation for update skip locked`;
    if (free.length === 0) return { removed: 0, next: null };
    const [due] = await tx<{ since: string | null; seen: number }[]>`
      with old as materialized (select xid, number, created_at from stream_events order by xid, number limit ${limit})
      select coalesce((select xid from old where created_at >= ${before(tx, days)} order by xid, number limit 1)::text,
          (select (xid::text::bigint + 1)::text from old order by xid desc limit 1)) as since,
        (select count(*)::int from old where created_at < ${before(tx, days)}) as seen`;
    if (!due?.since || due.seen === 0) return { removed: 0, next: null };
    await tx`update installation set stream_since = ${due.since}::text::xid8 where stream_since < ${due.since}::text::xid8`;
    const { count } = await tx`delete from stream_events where xid < ${due.since}::text::xid8`;
    return { removed: count, next: next(due.seen, limit) };
  });
}

/**
 * Deliveries that have ended, and what waits for a webhook that is disabled. Other pending deliveries end by themselves: they
 * are given up after three days.
 */
export async function removeOldWebhookDeliveries(
  sql: Queryable,
  { limit, after, days }: Batch & { days: number },
): Promise<Removed> {
  const [row] = await sql<Seen[]>`
    with old as materialized (select d.id, d.state, w.disabled_at is not null as is_disabled
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.id > ${after ?? FIRST_ID} and d.id < ${firstId(sql, days)} order by d.id limit ${limit} for update of d skip locked),
    removed as (delete from webhook_deliveries where id = any(array(
      select id from old where state <> 'pending' or is_disabled)) returning id)
    select (select count(*)::int from removed) as removed, (select count(*)::int from old) as seen,
      (select id from old order by id desc limit 1) as last`;
  return nextAfter(row, limit);
}

export async function removeOldAuditLogs(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`delete from audit_logs where id = any(array(
    select id from audit_logs where id < ${firstId(sql, days)} order by id limit ${limit} for update skip locked))`;
  return { removed: count, next: next(count, limit) };
}

/**
 * The last receipt of a device stays, and that of its serial number: it says whether the device is
 * clean if it appears in another slot or host.
 */
export async function removeOldReceipts(
  sql: Queryable,
  { limit, after, days }: Batch & { days: number },
): Promise<Removed> {
  const [row] = await sql<Seen[]>`
    with old as materialized (select id from device_receipts
      where id > ${after ?? FIRST_ID} and id < ${firstId(sql, days)} order by id limit ${limit} for update skip locked),
    removed as (delete from device_receipts r where r.id = any(array(select id from old))
      and exists (select from device_receipts n where n.device_id = r.device_id and n.id > r.id)
      and (r.serial = '' or exists (select from device_receipts n where n.serial = r.serial and n.serial <> ''
        and n.number > r.number))
      returning r.id)
    select (select count(*)::int from removed) as removed, (select count(*)::int from old) as seen,
      (select id from old order by id desc limit 1) as last`;
  return nextAfter(row, limit);
}

/**
 * Intervals are what a day is computed from, so three kinds stay: those that are open or may still be
 * proven, those that reach into the last closed day or later, because the next close compares that day
 * once more, and those of a day with late usage that is not adjusted yet. The usage of closed days and
 * its adjustments are on invoices and are never removed.
 */
export async function removeOldIntervals(
  sql: Sql,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  await advanceMeteredSince(sql, days);
  const { count } = await sql`delete from meter_intervals where id = any(array(
    select id from meter_intervals
    where coalesce(ended_at, 'infinity') < (select metered_since from installation) and not unproven
    order by coalesce(ended_at, 'infinity') limit ${limit} for update skip locked))`;
  return { removed: count, next: next(count, limit) };
}

/**
 * Days before the new moment are not adjusted once it is committed; only then their intervals are
 * removed. It is a midnight, so it changes once a day.
 */
async function advanceMeteredSince(sql: Sql, days: number): Promise<void> {
  const due = (tx: Queryable) => tx`(select date_trunc('day', least(${before(tx, days)},
        last.date::timestamp at time zone 'utc', (select min(since) from late_usage)) at time zone 'utc')
      at time zone 'utc' as moment
    from (select max(date) as date from closed_days) last where last.date is not null) due`;
  const changes = await sql`select from installation, ${due(sql)} where metered_since < due.moment`;
  if (changes.length === 0) return;
  await transact(sql, async (tx) => {
    await lockClosing(tx);
    await tx`update installation set metered_since = due.moment from ${due(tx)} where metered_since < due.moment`;
  });
}

/** What the payment provider was told is kept as long as the intervals it was computed from. */
export async function removeSentOutbox(
  sql: Queryable,
  { limit, days }: Batch & { days: number },
): Promise<Removed> {
  const { count } = await sql`delete from payment_outbox where id = any(array(
    select id from payment_outbox where sent_at is not null and sent_at < ${before(sql, days)}
    order by sent_at limit ${limit} for update skip locked))`;
  return { removed: count, next: next(count, limit) };
}
