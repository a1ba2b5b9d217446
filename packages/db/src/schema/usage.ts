import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  date,
  index,
  numeric,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment } from './columns.ts';

/**
 * Metering, and the usage that is computed from it. Writer of every table here: scheduler; the api
 * too closes the intervals of what a tenant stops or deletes. There are no foreign keys to projects
 * and resources, because usage stays on the bill after both are removed.
 *
 * What a closed day has is final: triggers refuse every change of `closed_days`, `closed_prices`,
 * `usage_days` and `usage_adjustments`. Usage that becomes known later is an adjustment.
 */

/** A period in which a resource was in use; open while `endedAt` is null. */
export const meterIntervals = pgTable(
  'meter_intervals',
  {
    id: id(),
    organizationId: uuid('organization_id').notNull(),
    projectId: uuid('project_id').notNull(),
    resourceId: uuid('resource_id').notNull(),
    /** A VM type or a disk type: what prices are set for. */
    resourceType: text('resource_type').notNull(),
    billableMetric: text('billable_metric').notNull(),
    /** Units in use: 1 for a VM, the size in GB for a disk. */
    units: numeric('units', { precision: 12, scale: 0 }).notNull(),
    region: text('region').notNull(),
    startedAt: moment('started_at').notNull(),
    endedAt: moment('ended_at'),
    /**
     * Set if the host fell silent: it was last seen at `endedAt`, and the VM counted as running until
     * this moment, when the host was given up.
     */
    givenUpAt: moment('given_up_at'),
    /** The host may still prove that the VM ran until it was given up. Then that time counts. */
    unproven: boolean('unproven').notNull().default(false),
  },
  (t) => [
    uniqueIndex('meter_intervals_open_key').on(t.resourceId).where(sql`ended_at is null`),
    // An open interval ends last. The close of a day reads what ended after its start, whatever came before.
    index('meter_intervals_end').on(sql`coalesce(ended_at, 'infinity')`),
    uniqueIndex('meter_intervals_unproven_key').on(t.resourceId).where(sql`unproven`),
    // The cost of one VM.
    index('meter_intervals_resource').on(t.resourceId).concurrently(),
    index('meter_intervals_of').on(t.organizationId, sql`coalesce(ended_at, 'infinity')`),
    check('meter_intervals_order', sql`${t.endedAt} >= ${t.startedAt}`),
    check('meter_intervals_given_up', sql`${t.givenUpAt} >= ${t.endedAt}`),
  ],
);

/**
 * A change of an interval that reaches back to an earlier day. A trigger adds the row in the
 * transaction of the change; the scheduler adjusts the closed days of that time and removes it.
 */
export const lateUsage = pgTable('late_usage', {
  number: bigint('number', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  organizationId: uuid('organization_id').notNull(),
  since: moment('since').notNull(),
  /** Null if the change has no end. */
  until: moment('until'),
});

/** The usage of these days is final. The primary key ensures that a day is closed once. */
export const closedDays = pgTable('closed_days', {
  date: date('date').primaryKey(),
  closedAt: moment('closed_at').notNull().defaultNow(),
});

/** The prices at which a day was closed, and at which its adjustments are charged. */
export const closedPrices = pgTable(
  'closed_prices',
  {
    date: date('date')
      .notNull()
      .references(() => closedDays.date),
    resourceType: text('resource_type').notNull(),
    usdPerHour: numeric('usd_per_hour', { precision: 18, scale: 8 }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.date, t.resourceType] })],
);

export const usageDays = pgTable(
  'usage_days',
  {
    date: date('date')
      .notNull()
      .references(() => closedDays.date),
    organizationId: uuid('organization_id').notNull(),
    projectId: uuid('project_id').notNull(),
    resourceType: text('resource_type').notNull(),
    billableMetric: text('billable_metric').notNull(),
    region: text('region').notNull(),
    quantity: numeric('quantity', { precision: 24, scale: 6 }).notNull(),
    costUsd: numeric('cost_usd', { precision: 24, scale: 8 }).notNull(),
    /** False if there was no price when the day was closed; the cost is 0 then. */
    priced: boolean('priced').notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.organizationId, t.date, t.projectId, t.resourceType, t.billableMetric, t.region],
    }),
  ],
);

/**
 * Usage of a closed day that became known after the close, or that turned out not to have happened;
 * the latter is negative. The usage of a day is the sum of its rows here and in `usage_days`.
 */
export const usageAdjustments = pgTable(
  'usage_adjustments',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    /** The day that the usage belongs to. */
    date: date('date')
      .notNull()
      .references(() => closedDays.date),
    organizationId: uuid('organization_id').notNull(),
    projectId: uuid('project_id').notNull(),
    resourceType: text('resource_type').notNull(),
    billableMetric: text('billable_metric').notNull(),
    region: text('region').notNull(),
    quantity: numeric('quantity', { precision: 24, scale: 6 }).notNull(),
    costUsd: numeric('cost_usd', { precision: 24, scale: 8 }).notNull(),
    priced: boolean('priced').notNull(),
    reason: text('reason').notNull(),
    createdAt: createdAt(),
  },
  (t) => [index('usage_adjustments_day').on(t.organizationId, t.date)],
);
