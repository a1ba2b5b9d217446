import {
  bigint,
  boolean,
  doublePrecision,
  index,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, moment } from './columns.ts';
import { users } from './tenants.ts';

/** How users log in, and what limits guessing. Writer: api; cleaned by the scheduler. */

/** The second factor of a user. Before it is confirmed, it is not asked for. */
export const userTotps = pgTable('user_totps', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** Sealed with the installation's secret key. */
  sealedSecret: text('sealed_secret').notNull(),
  confirmed: boolean('confirmed').notNull().default(false),
  /** The step of the last accepted code. A code is accepted once. */
  lastStep: bigint('last_step', { mode: 'number' }).notNull().default(0),
  /** SHA-256 of the recovery codes that are left. */
  recoveryHashes: text('recovery_hashes').array().notNull().default([]),
  createdAt: createdAt(),
});

/** Links with which users choose a password. A user has at most one; a new one replaces it. */
export const invitations = pgTable(
  'invitations',
  {
    userId: uuid('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256 of the token in the link. */
    hash: text('hash').notNull(),
    /** The operator who made it. */
    createdBy: uuid('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [unique('invitations_hash_key').on(t.hash), index('invitations_expiry').on(t.expiresAt)],
);

/**
 * Leaky buckets of password attempts. `level` is the number of attempts at `updatedAt`, and decreases
 * with time. A missing row is an empty bucket.
 */
export const loginBudgets = pgTable(
  'login_budgets',
  {
    /** Names the account by its id, or an unknown e-mail address by its hash, and the bucket. */
    key: text('key').primaryKey(),
    level: doublePrecision('level').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [index('login_budgets_age').on(t.updatedAt)],
);

/** The sources from which a user has logged in. They have a budget of their own. */
export const loginSources = pgTable(
  'login_sources',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** An IPv4 address, or the /64 of an IPv6 address. */
    source: text('source').notNull(),
    lastLoginAt: moment('last_login_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.source] }),
    index('login_sources_age').on(t.lastLoginAt),
  ],
);
