import { newId } from '@gantry/model/ids';
import type { DeliveryState } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { StreamPosition } from '../operations/stream-events.ts';
import { LAST_ID } from '../page-bounds.ts';

/**
 * The log of a webhook, and the requests that add to its queue. The caller has made sure that the webhook belongs to the
 * caller's project, or to the operators.
 */

export type DeliveryRow = {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  resource_id: string;
  state: DeliveryState;
  attempts: number;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  status_code: number;
  latency_ms: number;
  error: string;
  created_at: Date;
};

const columns = (
  sql: Queryable,
) => sql`id, webhook_id, event_id, event_type, resource_id, state, attempts,
  next_attempt_at, last_attempt_at, status_code, latency_ms, error, created_at`;

export type DeliveryFilter = {
  webhookId: string;
  state: DeliveryState | null;
  eventId: string | null;
  resourceId: string | null;
  /** The last id of the previous page. Lists have the newest first. */
  before: string | null;
  limit: number;
};

export async function listDeliveries(
  sql: Queryable,
  { webhookId, state, eventId, resourceId, before, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return await sql<DeliveryRow[]>`select ${columns(sql)} from webhook_deliveries
    where webhook_id = ${webhookId} and id < ${before ?? LAST_ID}
      and (${state}::text is null or state = ${state})
      and (${eventId}::text is null or event_id = ${eventId})
      and (${resourceId}::text is null or resource_id = ${resourceId})
    order by id desc limit ${limit}`;
}

export async function readDelivery(
  sql: Queryable,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    select ${columns(sql)} from webhook_deliveries where id = ${deliveryId} and webhook_id = ${webhookId}`;
  return row;
}

/** The process that sends waits meanwhile. Returns false if the webhook does not exist any more. */
export async function lockQueue(sql: Queryable, webhookId: string): Promise<boolean> {
  const rows =
    await sql`select from webhook_queues where webhook_id = ${webhookId} for no key update`;
  return rows.length > 0;
}

/** Adds a delivery that is sent once, beside the events that wait. The caller holds the lock of the queue. */
export async function insertTestDelivery(
  sql: Queryable,
  {
    webhookId,
    eventId,
    body,
    now,
  }: { webhookId: string; eventId: string; body: string; now: Date },
): Promise<DeliveryRow> {
  const id = newId(now.getTime());
  const [row] = await sql<DeliveryRow[]>`
    insert into webhook_deliveries (id, webhook_id, event_id, event_type, resource_id, body, next_attempt_at, give_up_at)
    values (${id}, ${webhookId}, ${eventId}, 'test', ${id}, ${body}, now(), now()) returning ${columns(sql)}`;
  if (!row) throw new Error('BUG: the new delivery was not returned');
  await sql`update webhook_queues set pending = pending + 1, due_at = now() where webhook_id = ${webhookId}`;
  return row;
}

/** The time of the first event that the stream has; null if it has all events. */
export async function readStreamBegin(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ created_at: Date }[]>`
    select e.created_at from installation i, stream_events e where i.stream_since > '0'::xid8
    order by e.xid, e.number limit 1`;
  return row?.created_at ?? null;
}

/** Returns the position before the first event of this time or later; undefined if there is none. */
export async function findPositionAt(
  sql: Queryable,
  { projectId, time }: { projectId: string | null; time: Date },
): Promise<StreamPosition | undefined> {
  const [row] = await sql<{ xid: string; number: string }[]>`
    select xid::text, number - 1 as number from stream_events
    where created_at >= ${time} and ${projectId === null ? sql`true` : sql`project_id = ${projectId}`}
    order by xid, number limit 1`;
  return row && { xid: BigInt(row.xid), number: BigInt(row.number) };
}

const countPending = (sql: Queryable, webhookId: string) =>
  sql`(select count(*) from webhook_deliveries where webhook_id = ${webhookId} and state = 'pending')`;

/**
 * Continues the webhook after an earlier position. Deliveries of later events that are pending are removed, because these
 * events are added again, in their order. The caller holds the lock of the queue.
 */
export async function moveQueue(
  sql: Queryable,
  { webhookId, era, after }: { webhookId: string; era: string; after: StreamPosition },
): Promise<void> {
  await sql`delete from webhook_deliveries where webhook_id = ${webhookId} and state = 'pending' and xid is not null
    and split_part(event_id, '-', 1) = ${era}
    and (xid, event_number) > (${String(after.xid)}::text::xid8, ${String(after.number)}::bigint)`;
  await sql`update webhook_queues set era = ${era}::bigint, xid = ${String(after.xid)}::text::xid8,
      number = ${String(after.number)}::bigint, due_at = now(), pending = ${countPending(sql, webhookId)}
    where webhook_id = ${webhookId}`;
}

/**
 * Enables a webhook. What is pending is sent now, the first event of each resource first, and is given the whole time again.
 * Old ones may have been
 * removed meanwhile. The caller holds the lock of the queue.
 */
export async function enableQueue(
  sql: Queryable,
  { webhookId, giveUpMs }: { webhookId: string; giveUpMs: number },
): Promise<void> {
  await sql`update webhooks set disabled_at = null, disabled_reason = '' where id = ${webhookId}`;
  await sql`update webhook_deliveries d set give_up_at = now() + ${giveUpMs} * interval '1 millisecond',
      next_attempt_at = case when not exists (select from webhook_deliveries e where e.webhook_id = ${webhookId}
        and e.resource_id = d.resource_id and e.state = 'pending' and e.number < d.number) then now() end
    where webhook_id = ${webhookId} and state = 'pending'`;
  await sql`update webhook_queues set due_at = now(), failing_since = null, pending = ${countPending(sql, webhookId)}
    where webhook_id = ${webhookId}`;
}
