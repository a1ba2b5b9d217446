import { DISK_TYPES } from '@gantry/model/states';
import { type SQL, sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, moment, oneOf, updatedAt } from './columns.ts';
import { storagePools } from './storage.ts';
import { projects } from './tenants.ts';
import { disks } from './vms.ts';

/**
 * Backups of disks in a storage cluster. A backup is a file outside of the cluster, with the whole content of the disk or
 * with what has changed since another backup, its parent. It outlives its disk.
 * Writer: api, except the columns under "scheduler" and the rows that a schedule asks for. The scheduler removes rows when
 * the file is gone.
 */
export const backups = pgTable(
  'backups',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    /** There is no foreign key, because the backup outlives its disk. */
    diskId: uuid('disk_id').notNull(),
    /** The pool that stores the disk's volume, and in which a disk from the backup is created. */
    poolId: uuid('pool_id')
      .notNull()
      .references(() => storagePools.id),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    /** Type, size and block size of the disk when the backup was requested. */
    diskType: text('disk_type').notNull(),
    sizeGib: integer('size_gib').notNull(),
    blockSize: integer('block_size').notNull(),
    /** Whether the whole content was asked for. */
    wantsFull: boolean('wants_full').notNull().default(false),
    /** Whether a schedule asked for it, and removes it again. */
    scheduled: boolean('scheduled').notNull().default(false),
    desiredState: text('desired_state').notNull().default('present'),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    // scheduler:
    observedState: text('observed_state').notNull().default('none'),
    /** Why it could not be made or removed; empty if nothing is known to be wrong. */
    problem: text('problem').notNull().default(''),
    /** The backup that this one contains the changes since; null: it has the whole content. It has no foreign key, because rows are removed one by one. */
    parentId: uuid('parent_id'),
    /** Whether the cluster may have a snapshot of the backup's name, from which the next backup takes the changes. */
    hasSnapshot: boolean('has_snapshot').notNull().default(true),
    /** Size and checksum of the file; 0 and empty until it is complete. */
    fileBytes: bigint('file_bytes', { mode: 'number' }).notNull().default(0),
    sha256: text('sha256').notNull().default(''),
    /** The state that tenants see. */
    state: text('state')
      .notNull()
      .generatedAlwaysAs(
        (): SQL => sql`case
          when desired_state = 'deleted' then 'deleting'
          when observed_state = 'none' then 'creating'
          else observed_state end`,
      ),
  },
  (t) => [
    unique('backups_name_key').on(t.projectId, t.name),
    index('backups_project').on(t.projectId, t.id),
    index('backups_disk').on(t.diskId, t.id),
    index('backups_parent').on(t.parentId).where(sql`parent_id is not null`),
    index('backups_unsettled')
      .on(t.location, t.id)
      .where(sql`desired_state = 'deleted' or observed_state = 'none'`),
    index('backups_with_snapshot').on(t.location, t.diskId).where(sql`has_snapshot`),
    oneOf('backups_disk_type', t.diskType, DISK_TYPES),
    oneOf('backups_desired_state', t.desiredState, ['present', 'deleted']),
    oneOf('backups_observed_state', t.observedState, ['none', 'ready', 'failed']),
    check('backups_size', sql`${t.sizeGib} between 1 and 10240`),
    check('backups_file', sql`${t.observedState} <> 'ready' or length(${t.sha256}) = 64`),
  ],
);

/** How often a disk is backed up, and how many of these backups are kept. Writer: api; the scheduler moves `next_at`. */
export const backupSchedules = pgTable(
  'backup_schedules',
  {
    diskId: uuid('disk_id')
      .primaryKey()
      .references(() => disks.id, { onDelete: 'cascade' }),
    everyHours: integer('every_hours').notNull(),
    keep: integer('keep').notNull(),
    nextAt: moment('next_at').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('backup_schedules_next').on(t.nextAt),
    check('backup_schedules_every', sql`${t.everyHours} between 1 and 8760`),
    check('backup_schedules_keep', sql`${t.keep} between 1 and 1000`),
  ],
);
