import {
  EVENT_TYPES,
  OPERATION_NAMES,
  OPERATION_STATES,
  ORGANIZATION_QUOTA_TYPES,
  QUOTA_TYPES,
  RESOURCE_TYPES,
  STREAM_EVENT_TYPES,
} from '@gantry/model/states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment, oneOf, transactionId } from './columns.ts';
import { organizations, projects } from './tenants.ts';

/** Writer: api; for `state`, `result` and `completedAt` of unfinished operations the scheduler. */
export const operations = pgTable(
  'operations',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    resourceType: text('resource_type').notNull(),
    resourceId: uuid('resource_id').notNull(),
    name: text('name').notNull(),
    state: text('state').notNull(),
    request: json('request').notNull(),
    result: json('result'),
    /** Shown to clients. It comes from the clock of an api process. */
    startedAt: moment('started_at').notNull(),
    /** The same moment by the database's clock: metering compares only moments of that clock. */
    recordedAt: moment('recorded_at').notNull().defaultNow(),
    completedAt: moment('completed_at'),
    /** By the database's clock, which the scheduler's query compares it with. */
    deadlineAt: moment('deadline_at').notNull(),
  },
  (t) => [
    uniqueIndex('operations_unfinished_key').on(t.resourceId).where(sql`state = 'IN_PROGRESS'`),
    index('operations_list').on(t.projectId, t.resourceType, t.state, t.id),
    index('operations_list_of_all').on(t.resourceType, t.state, t.id).concurrently(),
    index('operations_resource').on(t.resourceId),
    // Few operations change the disks of a VM, so every poll finds those that are unfinished without reading all others.
    index('operations_disk_changes')
      .on(t.resourceId)
      .where(sql`state = 'IN_PROGRESS' and name in ('ATTACH_DISKS', 'DETACH_DISKS')`)
      .concurrently(),
    index('operations_deadline').on(t.deadlineAt).where(sql`state = 'IN_PROGRESS'`),
    oneOf('operations_resource_type', t.resourceType, RESOURCE_TYPES),
    oneOf('operations_name', t.name, OPERATION_NAMES),
    oneOf('operations_state', t.state, OPERATION_STATES),
    check('operations_completed', sql`(${t.state} = 'IN_PROGRESS') = (${t.completedAt} is null)`),
  ],
);

/**
 * What happened to a tenant's resources without a request. Rows are only added. Writer: api and
 * scheduler. Events are removed with the project, or by the scheduler when they are old.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    resourceType: text('resource_type').notNull(),
    resourceId: uuid('resource_id').notNull(),
    type: text('type').notNull(),
    message: text('message').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('events_project').on(t.projectId, t.id),
    oneOf('events_resource_type', t.resourceType, RESOURCE_TYPES),
    oneOf('events_type', t.type, EVENT_TYPES),
  ],
);

/**
 * What the event stream sends: one row for each change, as it was then. Rows are only added. Writer:
 * triggers; the scheduler removes old rows, always the first ones.
 *
 * Streams send rows in the order of (`xid`, `number`), and only those of transactions before the oldest
 * open one. Such a transaction has ended, so no row can appear later before a row that was sent. The
 * sequence alone would not do: a transaction can commit after one that took a later number.
 *
 * There is no foreign key to projects, because it would lock the project's row at every change.
 */
export const streamEvents = pgTable(
  'stream_events',
  {
    xid: transactionId('xid').notNull().default(sql`pg_current_xact_id()`),
    number: bigint('number', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    /** Null: only operators see it. */
    projectId: uuid('project_id'),
    type: text('type').notNull(),
    data: json('data').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.xid, t.number] }),
    index('stream_events_project')
      .on(t.projectId, t.xid, t.number)
      .where(sql`project_id is not null`),
    oneOf('stream_events_type', t.type, STREAM_EVENT_TYPES),
  ],
);

/**
 * The first reply to a request that carried an Idempotency-Key, kept for 24 hours. Writer: api;
 * cleaned by the scheduler.
 */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    actorId: uuid('actor_id').notNull(),
    key: text('key').notNull(),
    requestHash: text('request_hash').notNull(),
    reply: text('reply').notNull(),
    /** The reply carries a secret and is sealed with the installation's secret key. */
    sealed: boolean('sealed').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.actorId, t.key] }),
    index('idempotency_keys_age').on(t.createdAt),
  ],
);

/** Who changed what, from where, with which result. Rows are only added. Writer: api; the scheduler removes old ones. */
export const auditLogs = pgTable(
  'audit_logs',
  {
    id: id(),
    at: moment('at').notNull(),
    organizationId: uuid('organization_id'),
    projectId: uuid('project_id'),
    actorType: text('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    sourceIp: text('source_ip').notNull(),
    /** Empty except for requests for tokens. */
    userAgent: text('user_agent').notNull().default(''),
    /** More than 1 in a line about several requests for tokens that a limit refused. */
    attempts: integer('attempts').notNull().default(1),
    requestId: uuid('request_id').notNull(),
    status: integer('status').notNull(),
  },
  (t) => [
    index('audit_logs_organization').on(t.organizationId, t.id),
    oneOf('audit_logs_actor_type', t.actorType, ['user', 'access_key', 'anonymous']),
  ],
);

/** Writer: api for `max`; triggers on the counted tables for `used`. */
export const quotas = pgTable(
  'quotas',
  {
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    type: text('type').notNull(),
    max: bigint('max', { mode: 'number' }).notNull(),
    used: bigint('used', { mode: 'number' }).notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.projectId, t.type] }),
    oneOf('quotas_type', t.type, QUOTA_TYPES),
  ],
);

/** Limits what the projects of an organization use together, which `quotas` counts. Writer: api. */
export const organizationQuotas = pgTable(
  'organization_quotas',
  {
    organizationId: uuid('organization_id')
      .notNull()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    type: text('type').notNull(),
    max: bigint('max', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.type] }),
    oneOf('organization_quotas_type', t.type, ORGANIZATION_QUOTA_TYPES),
  ],
);
