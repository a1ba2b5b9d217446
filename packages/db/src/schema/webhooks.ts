import { DELIVERY_STATES } from '@gantry/model/states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment, oneOf, transactionId } from './columns.ts';
import { projects } from './tenants.ts';

/** Webhooks, and the events that are sent to them. Writer of every table here: api. */

export const webhooks = pgTable(
  'webhooks',
  {
    id: id(),
    /** Null: a webhook of operators, which gets the events of all projects and hosts. */
    projectId: uuid('project_id').references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    url: text('url').notNull(),
    /** Empty: all types. */
    eventTypes: text('event_types').array().notNull(),
    description: text('description').notNull(),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    sealedSecret: text('sealed_secret').notNull(),
    /** The secret before the last rotation, which signs too until `oldSecretUntil`; empty if there is none. */
    sealedOldSecret: text('sealed_old_secret').notNull().default(''),
    oldSecretUntil: moment('old_secret_until'),
    disabledAt: moment('disabled_at'),
    /** Empty while it is enabled. */
    disabledReason: text('disabled_reason').notNull().default(''),
    createdAt: createdAt(),
  },
  (t) => [
    unique('webhooks_name_key').on(t.projectId, t.name).nullsNotDistinct(),
    index('webhooks_project').on(t.projectId, t.id),
    check('webhooks_disabled', sql`(${t.disabledAt} is null) = (${t.disabledReason} = '')`),
  ],
);

/**
 * How far the events of a webhook have got. It is a table of its own, because it changes with every delivery, and
 * requests about the webhook must not wait for that. Every writer of the webhook's deliveries locks this row first.
 */
export const webhookQueues = pgTable(
  'webhook_queues',
  {
    webhookId: uuid('webhook_id')
      .primaryKey()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** Every event up to here is in `webhook_deliveries`, or does not concern the webhook. */
    era: bigint('era', { mode: 'number' }).notNull(),
    xid: transactionId('xid').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    /** How many of its deliveries are pending. */
    pending: integer('pending').notNull().default(0),
    /**
     * When a process is to look at the webhook: an event is new, or a delivery is due, or the lease has run out. Null: there
     * is nothing to do, or the webhook is disabled.
     */
    dueAt: moment('due_at'),
    /** The only process that adds, sends and ends deliveries. If it dies, another one continues after `leasedUntil`. */
    leasedBy: uuid('leased_by'),
    leasedUntil: moment('leased_until'),
    /** When the first delivery after the last success failed; null if the last one succeeded. */
    failingSince: moment('failing_since'),
  },
  (t) => [index('webhook_queues_due').on(t.dueAt).where(sql`due_at is not null`)],
);

/**
 * An event for a webhook, and how often it was sent: the queue and the log of a webhook. The scheduler removes old rows that
 * have ended.
 *
 * Events of one resource are sent in their order: `nextAttemptAt` of a pending row is null until the row before it has ended.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: id(),
    /** The order of the deliveries of a webhook. */
    number: bigint('number', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** The id of the event in the stream, which is the same at each attempt and replay. */
    eventId: text('event_id').notNull(),
    eventType: text('event_type').notNull(),
    /** Empty if the event has no resource. */
    resourceId: text('resource_id').notNull(),
    /** The body of the request, as it is signed. */
    body: text('body').notNull(),
    /** The transaction that wrote the event; null if it is not in the stream. */
    xid: transactionId('xid'),
    eventNumber: bigint('event_number', { mode: 'number' }),
    state: text('state').notNull().default('pending'),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: moment('next_attempt_at'),
    /** An attempt that fails after this time is the last one. */
    giveUpAt: moment('give_up_at').notNull(),
    lastAttemptAt: moment('last_attempt_at'),
    /** The status of the last reply; 0 if there was none. */
    statusCode: integer('status_code').notNull().default(0),
    latencyMs: integer('latency_ms').notNull().default(0),
    error: text('error').notNull().default(''),
    createdAt: createdAt(),
  },
  (t) => [
    index('webhook_deliveries_list').on(t.webhookId, t.id),
    index('webhook_deliveries_due')
      .on(t.webhookId, t.nextAttemptAt)
      .where(sql`next_attempt_at is not null`),
    uniqueIndex('webhook_deliveries_order')
      .on(t.webhookId, t.resourceId, t.number)
      .where(sql`state = 'pending'`),
    oneOf('webhook_deliveries_state', t.state, DELIVERY_STATES),
    check('webhook_deliveries_next', sql`${t.state} = 'pending' or ${t.nextAttemptAt} is null`),
  ],
);
