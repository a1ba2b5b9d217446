import { CUSTOM_IMAGE_VISIBILITIES, IMAGE_FORMATS } from '@gantry/model/states';
import { type SQL, sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, oneOf, updatedAt } from './columns.ts';
import { storagePools } from './storage.ts';
import { projects } from './tenants.ts';

/**
 * The images that projects made. In a location with network storage, the volume of one is called "image-" and its id, and
 * it is in one pool: OS disks of VMs with the image are clones in this pool. It is never shared by content, as images of
 * the catalogue are. In other locations its content is a file in the image store, and hosts fetch it.
 *
 * The row has the id of its row in `images`, without a foreign key, because it outlives that row: when no VM has a deleted
 * image, the scheduler removes the row in `images`, then the volume or the file, then this row.
 * Writer: api, except the columns under "scheduler". The api inserts rows; the scheduler removes them.
 */
export const customImages = pgTable(
  'custom_images',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    /** Null: the image store has it. */
    poolId: uuid('pool_id').references(() => storagePools.id),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    visibility: text('visibility').notNull().default('project'),
    /** The size of the image as a disk, or the most that it may have if it is made from a file. */
    sizeGib: integer('size_gib').notNull(),
    /** The snapshot that it is copied from; null: it is made from a file. */
    sourceSnapshotId: uuid('source_snapshot_id'),
    /** Where the file is fetched from; empty: the file is uploaded, or there is none. */
    sourceUrl: text('source_url').notNull().default(''),
    format: text('format').notNull().default('raw'),
    /** The hash and the size of the file; empty and null if there is no file, or if its size is not known. */
    sha256: text('sha256').notNull().default(''),
    fileBytes: bigint('file_bytes', { mode: 'number' }),
    /** Whether the whole file was uploaded, or need not be. */
    uploaded: boolean('uploaded').notNull().default(true),
    desiredState: text('desired_state').notNull().default('present'),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /**
     * The host that has to send the content of the snapshot; null: none, or it has sent it. The api sets it and a scheduler
     * clears it. Without a foreign key, as that of the snapshot.
     */
    hostId: uuid('host_id'),
    // scheduler:
    /** The SHA-256 and the size of the file in the image store; empty and null until it is there. */
    contentSha256: text('content_sha256').notNull().default(''),
    contentBytes: bigint('content_bytes', { mode: 'number' }),
    observedState: text('observed_state').notNull().default('none'),
    /** Why it could not be made or removed; empty if nothing is known to be wrong. */
    problem: text('problem').notNull().default(''),
    /** The state that tenants see. */
    state: text('state')
      .notNull()
      .generatedAlwaysAs(
        (): SQL => sql`case
          when desired_state = 'deleted' then 'deleted'
          when not uploaded then 'uploading'
          when observed_state = 'none' then 'creating'
          else observed_state end`,
      ),
  },
  (t) => [
    index('custom_images_project').on(t.projectId, t.id),
    index('custom_images_snapshot').on(t.sourceSnapshotId),
    index('custom_images_unsettled')
      .on(t.location, t.id)
      .where(sql`desired_state = 'deleted' or (observed_state = 'none' and uploaded)`),
    index('custom_images_host').on(t.hostId).where(sql`host_id is not null`).concurrently(),
    oneOf('custom_images_visibility', t.visibility, CUSTOM_IMAGE_VISIBILITIES),
    oneOf('custom_images_format', t.format, IMAGE_FORMATS),
    oneOf('custom_images_desired_state', t.desiredState, ['present', 'deleted']),
    oneOf('custom_images_observed_state', t.observedState, ['none', 'ready', 'failed']),
    check('custom_images_size', sql`${t.sizeGib} between 1 and 10240`),
  ],
);
