import { DISK_TYPES } from '@gantry/model/states';
import { type SQL, sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, oneOf, updatedAt } from './columns.ts';
import { storagePools } from './storage.ts';
import { projects } from './tenants.ts';

export const FREEZE_STATES = [
  ...(['none', 'wanted', 'frozen', 'taken', 'held', 'expired', 'failed'] as const),
] as const;
export type FreezeState = (typeof FREEZE_STATES)[number];

/**
 * Snapshots of disks in a storage cluster. A snapshot is part of the disk's volume there and is called like its id. It
 * outlives its disk: a volume whose disk no longer exists stays in the cluster until its last snapshot is deleted.
 * Writer: api, except the columns under "scheduler". The api inserts rows; the scheduler removes them when the cluster
 * or the host no longer has the snapshot.
 */
export const snapshots = pgTable(
  'snapshots',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    /** There is no foreign key, because the snapshot outlives its disk. */
    diskId: uuid('disk_id').notNull(),
    /** The pool that stores the disk's volume, and with it the snapshot; null: a host stores both. */
    poolId: uuid('pool_id').references(() => storagePools.id),
    /** The host that stores the disk and the snapshot; null: a pool does. */
    hostId: uuid('host_id'),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    /** Type, size and block size of the disk when the snapshot was requested. */
    diskType: text('disk_type').notNull(),
    sizeGib: integer('size_gib').notNull(),
    blockSize: integer('block_size').notNull(),
    desiredState: text('desired_state').notNull().default('present'),
    /** The VM whose guest is frozen while the snapshot is made; null: none. */
    freezeVmId: uuid('freeze_vm_id'),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    // scheduler:
    observedState: text('observed_state').notNull().default('none'),
    /**
     * How far the freezing of the guest is. The api writes `wanted`; reports of the host make it `frozen`, and after the
     * cluster has the snapshot, which is `taken`, make it `held` or `expired`.
     */
    freezeState: text('freeze_state').notNull().default('none'),
    /** Why it could not be created or removed; empty if nothing is known to be wrong. */
    problem: text('problem').notNull().default(''),
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
    unique('snapshots_name_key').on(t.projectId, t.name),
    index('snapshots_project').on(t.projectId, t.id),
    index('snapshots_disk').on(t.diskId),
    index('snapshots_unsettled')
      .on(t.location, t.id)
      .where(sql`desired_state = 'deleted' or observed_state = 'none'`),
    oneOf('snapshots_disk_type', t.diskType, DISK_TYPES),
    oneOf('snapshots_desired_state', t.desiredState, ['present', 'deleted']),
    oneOf('snapshots_observed_state', t.observedState, ['none', 'ready', 'failed']),
    oneOf('snapshots_freeze_state', t.freezeState, FREEZE_STATES),
    index('snapshots_host').on(t.hostId).where(sql`host_id is not null`).concurrently(),
    check('snapshots_place', sql`(${t.poolId} is null) <> (${t.hostId} is null)`),
    check('snapshots_size', sql`${t.sizeGib} between 1 and 10240`),
  ],
);
