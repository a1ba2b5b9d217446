import { sql } from 'drizzle-orm';
import {
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
import { id, moment } from './columns.ts';

/**
 * Metering, and the usage that is computed from it. Writer of every table here: scheduler. There
 * are no foreign keys to projects and resources, because usage stays on the bill after both are
 * removed.
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
  },
  (t) => [
    uniqueIndex('meter_intervals_open_key').on(t.resourceId).where(sql`ended_at is null`),
    index('meter_intervals_time').on(t.startedAt, t.endedAt),
    check('meter_intervals_order', sql`${t.endedAt} >= ${t.startedAt}`),
  ],
);

/** The usage of these days is final. The primary key ensures that a day is closed once. */
export const closedDays = pgTable('closed_days', {
  date: date('date').primaryKey(),
  closedAt: moment('closed_at').notNull().defaultNow(),
});

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
