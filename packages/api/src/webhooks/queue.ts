import type { Queryable } from '@gantry/db/connect';
import { readStreamEvents, type StreamPosition } from '@gantry/db/queries/operations/stream-events';
import {
  type DeliveryRow,
  enableQueue,
  findPositionAt,
  insertTestDelivery,
  lockQueue,
  moveQueue,
  readStreamBegin,
} from '@gantry/db/queries/webhooks/webhook-deliveries';
import { readWebhook, type WebhookId, type WebhookRow } from '@gantry/db/queries/webhooks/webhooks';
import { badRequest, CloudError, found } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { parseStreamId } from '../event-streams/stream-id.ts';
import { messageBody } from '../webhook-delivery/new-deliveries.ts';
import { GIVE_UP_MS } from '../webhook-delivery/timings.ts';
import type { ReplayWebhook } from './schema.ts';

/** Requests about the queue of a webhook. The queue is locked first, as by the process that sends. */

async function lockWebhook(sql: Queryable, id: WebhookId): Promise<WebhookRow> {
  found(await readWebhook(sql, id), 'webhook');
  await lockQueue(sql, id.webhookId);
  return found(await readWebhook(sql, id), 'webhook');
}

/** Adds a message of the type `test`. It is sent once, beside the events that wait. */
export async function testWebhook(
  { sql, now }: { sql: Queryable; now: Date },
  id: WebhookId,
): Promise<DeliveryRow> {
  const { webhookId } = id;
  requireEnabled(await lockWebhook(sql, id));
  const body = messageBody('test', now, { webhook_id: webhookId });
  return await insertTestDelivery(sql, { webhookId, eventId: `test-${newId()}`, body, now });
}

export async function enableWebhook(sql: Queryable, id: WebhookId): Promise<WebhookRow> {
  const row = await lockWebhook(sql, id);
  if (row.disabled_at === null) return row;
  await enableQueue(sql, { webhookId: id.webhookId, giveUpMs: GIVE_UP_MS });
  return found(await readWebhook(sql, id), 'webhook');
}

/** Sends the events after an earlier one again, each with the id that it had. */
export async function replayWebhook(
  { sql, now }: { sql: Queryable; now: Date },
  id: WebhookId,
  body: z.output<typeof ReplayWebhook>,
): Promise<WebhookRow> {
  const row = await lockWebhook(sql, id);
  requireEnabled(row);
  const { era, since, horizon } = await readStreamEvents(sql, {
    ...{ after: null, projectIds: null, limit: 1 },
  });
  const stream = { era, since, horizon };
  const after =
    body.since === undefined
      ? positionAfter(body.after_event_id, stream)
      : await positionAt(sql, { id, time: new Date(body.since), now });
  if (after) await moveQueue(sql, { webhookId: id.webhookId, era, after });
  return row;
}

function positionAfter(
  eventId: string | undefined,
  { era, since, horizon }: { era: string; since: bigint; horizon: bigint },
): StreamPosition {
  const field = 'after_event_id';
  const given = parseStreamId(eventId, field);
  const isKnown =
    given?.era === era && given.position.xid >= since && given.position.xid <= horizon;
  if (!given || !isKnown)
    throw badRequest([{ field, reason: 'is not in the event stream, or not any more' }]);
  return given.position;
}

async function positionAt(
  sql: Queryable,
  { id, time, now }: { id: WebhookId; time: Date; now: Date },
): Promise<StreamPosition | undefined> {
  const refuse = (reason: string) => badRequest([{ field: 'since', reason }]);
  if (time > now) throw refuse('must not be in the future');
  const begin = await readStreamBegin(sql);
  if (begin && time < begin)
    throw refuse(`must not be before ${begin.toISOString()}: older events were removed`);
  // PostgreSQL knows no year 0.
  const from = new Date(Math.max(0, time.getTime()));
  return await findPositionAt(sql, { projectId: id.projectId, time: from });
}

function requireEnabled({ disabled_at }: WebhookRow): void {
  if (disabled_at === null) return;
  throw new CloudError('conflict', 'the webhook is disabled: enable it first');
}
