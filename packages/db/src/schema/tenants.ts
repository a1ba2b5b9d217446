import { OPERATOR_ROLES, type OperatorRole } from '@gantry/model/states';
import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment, oneOf } from './columns.ts';

/** Users, organizations, projects and credentials. Writer of every table here: api. */

export const organizations = pgTable('organizations', {
  id: id(),
  name: text('name').notNull(),
  /** Empty until the payment provider knows the organization. */
  paymentCustomerId: text('payment_customer_id').notNull().default(''),
  createdAt: createdAt(),
});

/** An organization without a row may only use billing. */
export const paymentMethods = pgTable('payment_methods', {
  organizationId: uuid('organization_id')
    .primaryKey()
    .references(() => organizations.id, { onDelete: 'cascade' }),
  provider: text('provider').notNull(),
  details: jsonb('details').notNull(),
  createdAt: createdAt(),
});

export const projects = pgTable(
  'projects',
  {
    id: id(),
    organizationId: uuid('organization_id')
      .notNull()
      .references(() => organizations.id),
    name: text('name').notNull(),
    version: text('version').notNull().default('v0.1'),
    createdAt: createdAt(),
  },
  (t) => [unique('projects_name_key').on(t.organizationId, t.name)],
);

export const users = pgTable(
  'users',
  {
    id: id(),
    /** Lower case. */
    email: text('email').notNull(),
    passwordHash: text('password_hash').notNull(),
    operator: boolean('operator').notNull().default(false),
    /** What the user may do as an operator; without effect for other users. */
    operatorRole: text('operator_role').$type<OperatorRole>().notNull().default('admin'),
    /**
     * An owner added the e-mail address as a member, and no operator has created the user yet. A
     * pending user has no password.
     */
    pending: boolean('pending').notNull().default(false),
    /**
     * Every access token has the generation of its user at the time. A larger one here ends all
     * tokens so far. It is a counter and not a time, because the clocks of processes differ.
     */
    tokenGeneration: bigint('token_generation', { mode: 'number' }).notNull().default(0),
    createdAt: createdAt(),
  },
  (t) => [
    oneOf('users_operator_role', t.operatorRole, OPERATOR_ROLES),
    unique('users_email_key').on(t.email),
    check('users_email_lower', sql`${t.email} = lower(${t.email})`),
  ],
);

/** An owner belongs to the whole organization; member and read-only to one project of it. */
export const members = pgTable(
  'members',
  {
    id: id(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organizationId: uuid('organization_id')
      .notNull()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    projectId: uuid('project_id').references(() => projects.id, { onDelete: 'cascade' }),
    role: text('role').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    oneOf('members_role', t.role, ['owner', 'member', 'read-only']),
    check('members_scope', sql`(${t.role} = 'owner') = (${t.projectId} is null)`),
    unique('members_once').on(t.userId, t.organizationId, t.projectId).nullsNotDistinct(),
    index('members_organization').on(t.organizationId),
  ],
);

export const accessKeys = pgTable(
  'access_keys',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    role: text('role').notNull(),
    /** SHA-256 of the key: it has 192 random bits, so a slow hash would add nothing. */
    hash: text('hash').notNull(),
    createdAt: createdAt(),
    expiresAt: moment('expires_at'),
    /**
     * The user who created the key, or who created the key that created it. A key ends with its user,
     * and cannot do more than its user can now. Null for keys from before this was recorded.
     */
    createdBy: uuid('created_by').references(() => users.id, { onDelete: 'cascade' }),
    /** The key with which it was created; null if a user created it. */
    parentId: uuid('parent_id').references((): AnyPgColumn => accessKeys.id, {
      onDelete: 'cascade',
    }),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
  },
  (t) => [
    index('access_keys_creator').on(t.createdBy),
    index('access_keys_parent').on(t.parentId),
    oneOf('access_keys_role', t.role, ['member', 'read-only']),
    unique('access_keys_name_key').on(t.projectId, t.name),
    unique('access_keys_hash_key').on(t.hash),
  ],
);

/** Public keys that new VMs can name. A VM has its own copy. Writer: api. */
export const sshKeys = pgTable(
  'ssh_keys',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    publicKey: text('public_key').notNull(),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [
    unique('ssh_keys_name_key').on(t.projectId, t.name),
    index('ssh_keys_project').on(t.projectId, t.id),
  ],
);

/** The same of a user, in every project in which the user creates VMs. Writer: api. */
export const userSshKeys = pgTable(
  'user_ssh_keys',
  {
    id: id(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    publicKey: text('public_key').notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique('user_ssh_keys_name_key').on(t.userId, t.name)],
);

/** The last use of each access key. It is written with a delay, and may be a minute old. */
export const accessKeyUses = pgTable('access_key_uses', {
  accessKeyId: uuid('access_key_id')
    .primaryKey()
    .references(() => accessKeys.id, { onDelete: 'cascade' }),
  usedAt: moment('used_at').notNull(),
  sourceIp: text('source_ip').notNull(),
});

/** One row per refresh token ever used or usable; the rows of one login share a family. */
export const refreshTokens = pgTable(
  'refresh_tokens',
  {
    hash: text('hash').primaryKey(),
    familyId: uuid('family_id').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    usedAt: moment('used_at'),
    revokedAt: moment('revoked_at'),
    createdAt: createdAt(),
    expiresAt: moment('expires_at').notNull(),
    /** Who asked for the token, so that people recognize their logins. Empty: not recorded. */
    sourceIp: text('source_ip').notNull().default(''),
    userAgent: text('user_agent').notNull().default(''),
    /** When this one login was ended. Null if it was not, or all logins of the user were ended together. */
    loginEndedAt: moment('login_ended_at'),
  },
  (t) => [
    index('refresh_tokens_family').on(t.familyId),
    index('refresh_tokens_open')
      .on(t.userId, t.familyId)
      .where(sql`used_at is null and revoked_at is null`)
      .concurrently(),
    index('refresh_tokens_ended')
      .on(t.userId)
      .where(sql`login_ended_at is not null`)
      .concurrently(),
    index('refresh_tokens_expiry').on(t.expiresAt),
  ],
);

/**
 * The newest key signs access tokens. Older keys verify until their tokens have expired. A key that is
 * withdrawn is deleted, which ends its tokens.
 */
export const signingKeys = pgTable('signing_keys', {
  id: id(),
  publicKey: jsonb('public_key').notNull(),
  /** Sealed with the installation's secret key. */
  sealedPrivateKey: text('sealed_private_key').notNull(),
  /**
   * The newest key signs. The database assigns the number, because ids come from the clocks of
   * several api processes: a process with a fast clock would make a key that no rotation replaces.
   */
  number: bigint('number', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
  createdAt: createdAt(),
});
