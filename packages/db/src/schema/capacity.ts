import { integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/**
 * How many GPUs of a model a location had, every five minutes. Writer: scheduler. Rows stay after their location or
 * model is gone, so there are no foreign keys.
 */
export const capacitySamples = pgTable(
  'capacity_samples',
  {
    at: moment('at').notNull(),
    location: text('location').notNull(),
    model: text('model').notNull(),
    free: integer('free').notNull(),
    sold: integer('sold').notNull(),
    cleaning: integer('cleaning').notNull(),
    blocked: integer('blocked').notNull(),
    /** Those of the free GPUs whose host has no GPU that is not free, so that a VM can have all of them. */
    freeOnWholeHosts: integer('free_on_whole_hosts').notNull(),
  },
  (t) => [primaryKey({ columns: [t.at, t.location, t.model] })],
);
