import { ROLLOUT_HOST_STATES, ROLLOUT_STATES } from '@gantry/model/rollouts';
import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { hosts } from './hosts.ts';

/**
 * Rollouts of a version of the agent. Writer: api; the scheduler writes the columns under "scheduler", and both
 * write those under "both", each under the lock of the row.
 */
export const rollouts = pgTable(
  'rollouts',
  {
    id: id(),
    version: text('version').notNull(),
    /** Every selected host has all of these labels. */
    labels: jsonb('labels').$type<Record<string, string>>().notNull(),
    canaryCount: integer('canary_count').notNull(),
    batchSize: integer('batch_size').notNull(),
    hostTimeLimitS: integer('host_time_limit_s').notNull(),
    /** It pauses when more hosts than this have failed, besides the forgiven ones. */
    maxFailures: integer('max_failures').notNull(),
    /** How many hosts had failed when an operator last resumed it. */
    forgivenFailures: integer('forgiven_failures').notNull().default(0),
    /** The operator who created it. There is no foreign key, because the row outlives the user. */
    createdBy: uuid('created_by').notNull(),
    createdAt: createdAt(),
    // scheduler:
    /** The wave that is carried out. Canaries are wave 0. */
    wave: integer('wave').notNull().default(0),
    // both:
    state: text('state').notNull().default('running'),
    /** Why it is in its state; empty: the state needs no explanation. */
    stateReason: text('state_reason').notNull().default(''),
    /** Null while there is something left to do. */
    endedAt: moment('ended_at'),
  },
  (t) => [
    index('rollouts_unfinished').on(t.id).where(sql`ended_at is null`),
    oneOf('rollouts_state', t.state, ROLLOUT_STATES),
  ],
);

/**
 * The hosts of a rollout. The api inserts them and marks those of an ended rollout as active again for a roll-back;
 * everything else is written by the scheduler, under the lock of the rollout.
 */
export const rolloutHosts = pgTable(
  'rollout_hosts',
  {
    rolloutId: uuid('rollout_id')
      .notNull()
      .references(() => rollouts.id, { onDelete: 'cascade' }),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    wave: integer('wave').notNull(),
    state: text('state').notNull().default('pending'),
    reason: text('reason').notNull().default(''),
    /** The version that it had when its wave began; empty before. */
    fromVersion: text('from_version').notNull().default(''),
    /** The last order to its agent; null if there was none. */
    orderId: uuid('order_id'),
    /** The version that its spec names now; empty: none. */
    wantedVersion: text('wanted_version').notNull().default(''),
    orderedAt: moment('ordered_at'),
    endedAt: moment('ended_at'),
    /** Whether its rollout has not ended. A host is in one such rollout at a time. */
    active: boolean('active').notNull().default(true),
  },
  (t) => [
    primaryKey({ columns: [t.rolloutId, t.hostId] }),
    uniqueIndex('rollout_hosts_active_key').on(t.hostId).where(sql`active`),
    index('rollout_hosts_host').on(t.hostId),
    oneOf('rollout_hosts_state', t.state, ROLLOUT_HOST_STATES),
  ],
);
