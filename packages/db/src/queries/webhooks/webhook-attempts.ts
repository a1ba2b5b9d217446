import { newId } from '@gantry/model/ids';
import type { DeliveryState } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { StreamPosition } from '../operations/stream-events.ts';

/**
 * Adding, sending and ending deliveries. The caller has the lease of the queue and holds its lock.
 *
 * A webhook has at most 10,000 pending deliveries, and the planner expects one: it has no statistics of a table that has
 * just grown. Given the choice, it reads all pending ones of the webhook for each statement. So deliveries are looked up
 * by id or by resource in subqueries with a limit, which leave it no other plan.
 */

export type NewDelivery = {
  eventId: string;
  eventType: string;
  resourceId: string;
  body: string;
  /** Null if the event is not in the stream. */
  position: StreamPosition | null;
};

/** Adds deliveries in their order. One is due at once unless an earlier one of its resource is pending. */
export async function insertDeliveries(
  sql: Queryable,
  {
    webhookId,
    giveUpMs,
    deliveries,
  }: { webhookId: string; giveUpMs: number; deliveries: readonly NewDelivery[] },
): Promise<void> {
  if (deliveries.length === 0) return;
  const of = (value: (delivery: NewDelivery) => string) => deliveries.map(value);
  await sql`
    insert into webhook_deliveries (id, webhook_id, event_id, event_type, resource_id, body, xid, event_number,
      next_attempt_at, give_up_at)
    select n.id, ${webhookId}, n.event_id, n.event_type, n.resource_id, n.body, nullif(n.xid, '')::xid8,
      nullif(n.event_number, '')::bigint,
      case when row_number() over (partition by n.resource_id order by n.place) = 1
        and (select p.id from webhook_deliveries p where p.webhook_id = ${webhookId}
          and p.resource_id = n.resource_id and p.state = 'pending' limit 1) is null then now() end,
      now() + ${giveUpMs} * interval '1 millisecond'
    from unnest(${of(() => newId())}::uuid[], ${of(({ eventId }) => eventId)}::text[],
        ${of(({ eventType }) => eventType)}::text[], ${of(({ resourceId }) => resourceId)}::text[],
        ${of(({ body }) => body)}::text[], ${of(({ position }) => String(position?.xid ?? ''))}::text[],
        ${of(({ position }) => String(position?.number ?? ''))}::text[])
      with ordinality as n (id, event_id, event_type, resource_id, body, xid, event_number, place)
    order by n.place`;
}

export type DueDelivery = {
  id: string;
  event_id: string;
  event_type: string;
  body: string;
  attempts: number;
};

/** Returns deliveries that are due, without those that are being sent. */
export async function readDueDeliveries(
  sql: Queryable,
  { webhookId, inFlight, limit }: { webhookId: string; inFlight: string[]; limit: number },
): Promise<DueDelivery[]> {
  return await sql<DueDelivery[]>`
    select id, event_id, event_type, body, attempts from webhook_deliveries
    where webhook_id = ${webhookId} and next_attempt_at <= now() and id <> all(${inFlight}::uuid[])
    order by next_attempt_at, number limit ${limit}`;
}

export type Attempt = {
  deliveryId: string;
  succeeded: boolean;
  statusCode: number;
  latencyMs: number;
  error: string;
  /** The pause until the next attempt, if this one has failed. */
  pauseMs: number;
};

/**
 * Records attempts. The next event of a resource becomes due when the one before it was delivered or given up. Returns how
 * many deliveries have ended.
 */
export async function updateAttempted(
  sql: Queryable,
  { webhookId, attempts }: { webhookId: string; attempts: readonly Attempt[] },
): Promise<number> {
  if (attempts.length === 0) return 0;
  const of = (value: (attempt: Attempt) => string | number | boolean) =>
    attempts.map((attempt) => String(value(attempt)));
  const rows = await sql<{ resource_id: string; state: DeliveryState }[]>`
    with made as materialized (select m.id, m.ok, m.status_code, m.latency_ms, m.error, m.pause_ms,
        case when m.ok then 'delivered' when d.give_up_at <= now() then 'failed' else 'pending' end as state
      from unnest(${of(({ deliveryId }) => deliveryId)}::uuid[], ${of(({ succeeded }) => succeeded)}::text[]::boolean[],
          ${of(({ statusCode }) => statusCode)}::text[]::int[], ${of(({ latencyMs }) => latencyMs)}::text[]::int[],
          ${of(({ error }) => error)}::text[], ${of(({ pauseMs }) => pauseMs)}::text[]::int[])
        as m (id, ok, status_code, latency_ms, error, pause_ms)
      cross join lateral (select webhook_id, state, give_up_at from webhook_deliveries where id = m.id limit 1) d
      where d.webhook_id = ${webhookId} and d.state = 'pending')
    update webhook_deliveries d set state = m.state, attempts = d.attempts + 1, last_attempt_at = now(),
      status_code = m.status_code, latency_ms = m.latency_ms, error = m.error,
      next_attempt_at = case when m.state = 'pending' then now() + m.pause_ms * interval '1 millisecond' end
    from made m where m.id = d.id returning d.resource_id, d.state`;
  const ended = rows.filter(({ state }) => state !== 'pending').map((row) => row.resource_id);
  if (ended.length > 0) {
    await sql`update webhook_deliveries set next_attempt_at = now() where id in (
      select n.id from unnest(${ended}::text[]) as r (resource_id)
      cross join lateral (select id from webhook_deliveries where webhook_id = ${webhookId}
        and resource_id = r.resource_id and state = 'pending' order by number limit 1) n)`;
  }
  return ended.length;
}
