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
 * Metering and what was made of it. Writer of every table here: scheduler. None refers to a project
 * or a resource by key: what was used stays on the bill after both are gone.
 */

/** A stretch of time in which something was in use; open while `endedAt` is null. */
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

/** A row says that the day's usage is final; its primary key makes closing a day happen once. */
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
    /** False where no price was set when the day was closed: the cost is then 0. */
    priced: boolean('priced').notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.organizationId, t.date, t.projectId, t.resourceType, t.billableMetric, t.region],
    }),
  ],
);
