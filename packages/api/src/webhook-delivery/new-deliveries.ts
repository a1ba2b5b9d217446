import type { Queryable } from '@gantry/db/connect';
import { readStreamEvents, type StreamEventRow } from '@gantry/db/queries/operations/stream-events';
import { insertDeliveries, type NewDelivery } from '@gantry/db/queries/webhooks/webhook-attempts';
import type { HeldQueue } from '@gantry/db/queries/webhooks/webhook-queue';
import { eventData } from '../event-streams/event-stream.ts';
import { formatStreamId } from '../event-streams/stream-id.ts';

/** How many events one transaction adds. */
const MOST_AT_ONCE = 500;
/** A webhook that has so many pending deliveries gets no more until some have ended. It bounds what a tenant can store. */
export const MOST_PENDING = 10_000;

type Place = Pick<HeldQueue, 'era' | 'position' | 'pending'> & {
  /** Whether more events can be added at once, or when there is room. */
  hasMore: boolean;
};

/**
 * Adds deliveries of the events after the position of the queue. If events were removed from the stream before they were
 * added, or the database lost commits, the webhook gets a `reset`, as a client of the event stream does.
 */
export async function addDeliveries(
  sql: Queryable,
  { webhookId, queue, giveUpMs }: { webhookId: string; queue: HeldQueue; giveUpMs: number },
): Promise<Place> {
  const { project_id, event_types, position, pending } = queue;
  const room = Math.min(MOST_AT_ONCE, MOST_PENDING - pending);
  if (room <= 0) return { era: queue.era, position, pending, hasMore: true };
  const { era, since, horizon, events } = await readStreamEvents(sql, {
    ...{ after: position, limit: room },
    ...{ projectIds: project_id === null ? null : [project_id], types: event_types },
  });
  const now = { xid: horizon, number: 0n };
  if (era !== queue.era || position.xid < since) {
    const deliveries = [resetDelivery(formatStreamId(era, now))];
    await insertDeliveries(sql, { webhookId, giveUpMs, deliveries });
    return { era, position: now, pending: pending + 1, hasMore: false };
  }
  const forOperators = project_id === null;
  const deliveries = events.map((event) => eventDelivery(era, event, { forOperators }));
  await insertDeliveries(sql, { webhookId, giveUpMs, deliveries });
  const last = events.length === room ? events.at(-1) : undefined;
  return {
    ...{ era, position: last?.position ?? now, pending: pending + events.length },
    hasMore: last !== undefined,
  };
}

/** The body of every message. */
export function messageBody(type: string, timestamp: Date, data: object): string {
  return JSON.stringify({ type, timestamp: timestamp.toISOString(), data });
}

function eventDelivery(
  era: string,
  event: StreamEventRow,
  { forOperators }: { forOperators: boolean },
): NewDelivery {
  const data = eventData(event, { forOperators });
  return {
    eventId: formatStreamId(era, event.position),
    eventType: event.type,
    resourceId: resourceOf(event),
    body: messageBody(event.type, event.createdAt, data),
    position: event.position,
  };
}

/** Devices are ordered with their host, and what a host does in a rollout with the rollout. */
function resourceOf({ type, data }: StreamEventRow): string {
  const { id, resource_id, host_id, rollout_id } = data as Record<string, unknown>;
  const found = {
    ...{ operation: resource_id, event: resource_id, vm: id, host: id, devices: host_id },
    ...{ rollout: id, rollout_host: rollout_id },
  };
  return String(found[type] ?? '');
}

function resetDelivery(eventId: string): NewDelivery {
  const body = messageBody('reset', new Date(), {});
  return { eventId, eventType: 'reset', resourceId: '', body, position: null };
}
