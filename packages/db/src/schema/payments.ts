import { sql } from 'drizzle-orm';
import {
  date,
  index,
  numeric,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, moment, oneOf } from './columns.ts';
import { organizations } from './tenants.ts';

/**
 * What the installation and its payment provider tell each other, and what follows from it. Writer
 * of every table here: api, unless the table says otherwise. An organization without a row in
 * `payment_problems` and `suspensions` is in good standing.
 */

/** The tenant is notified, and the organization is suspended when the period of grace is over. */
export const paymentProblems = pgTable(
  'payment_problems',
  {
    organizationId: uuid('organization_id')
      .notNull()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    kind: text('kind').notNull(),
    /** The provider's id of the invoice that was not paid; empty if there is none. */
    invoiceId: text('invoice_id').notNull().default(''),
    since: moment('since').notNull().defaultNow(),
    suspendsAt: moment('suspends_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.kind] }),
    index('payment_problems_due').on(t.suspendsAt),
    oneOf('payment_problems_kind', t.kind, ['payment_failed', 'no_payment_method']),
  ],
);

/** A suspended organization cannot create or start VMs. A trigger on `vms` refuses both. */
export const suspensions = pgTable(
  'suspensions',
  {
    organizationId: uuid('organization_id')
      .primaryKey()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    cause: text('cause').notNull(),
    reason: text('reason').notNull(),
    since: moment('since').notNull().defaultNow(),
    /** When the api stops the VMs that still run. */
    stopsVmsAt: moment('stops_vms_at').notNull(),
  },
  (t) => [
    index('suspensions_due').on(t.stopsVmsAt),
    oneOf('suspensions_cause', t.cause, ['operator', 'payment']),
  ],
);

/**
 * The usage that the payment provider has to be told: a row per organization, resource type and
 * closed day, and a row per adjustment. The scheduler inserts a row in the transaction that closes
 * or adjusts the day, so none is forgotten. The api sends it, and repeats it under the same id until
 * the provider has confirmed it.
 */
export const paymentOutbox = pgTable(
  'payment_outbox',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    organizationId: uuid('organization_id').notNull(),
    kind: text('kind').notNull(),
    date: date('date').notNull(),
    resourceType: text('resource_type').notNull(),
    billableMetric: text('billable_metric').notNull(),
    quantity: numeric('quantity', { precision: 24, scale: 6 }).notNull(),
    costUsd: numeric('cost_usd', { precision: 24, scale: 8 }).notNull(),
    reason: text('reason').notNull().default(''),
    /** Null for the usage of a day. */
    adjustmentId: uuid('adjustment_id'),
    createdAt: createdAt(),
    // api:
    /** A process is sending the row until then; if it dies, another one sends the row again. */
    claimedUntil: moment('claimed_until'),
    /**
     * The first attempt of which it is unknown whether the provider accepted it; null if there is
     * none. The provider recognises a repeated row for a day only.
     */
    uncertainSince: moment('uncertain_since'),
    sentAt: moment('sent_at'),
    /** Why the last attempt failed; empty if it did not. */
    failure: text('failure').notNull().default(''),
  },
  (t) => [
    uniqueIndex('payment_outbox_day_key')
      .on(t.organizationId, t.date, t.resourceType, t.billableMetric)
      .where(sql`kind = 'usage'`),
    unique('payment_outbox_adjustment_key').on(t.adjustmentId),
    index('payment_outbox_unsent').on(t.organizationId, t.createdAt).where(sql`sent_at is null`),
    index('payment_outbox_sent').on(t.sentAt).where(sql`sent_at is not null`),
    oneOf('payment_outbox_kind', t.kind, ['usage', 'adjustment']),
  ],
);

/** The provider's events that were handled. The primary key ensures that each has one effect. */
export const paymentEvents = pgTable('payment_events', {
  id: text('id').primaryKey(),
  type: text('type').notNull(),
  createdAt: createdAt(),
});
