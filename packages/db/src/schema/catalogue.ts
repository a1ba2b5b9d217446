import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  integer,
  numeric,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id } from './columns.ts';
import { projects } from './tenants.ts';

/** What tenants can order, and where. Writer of every table here: api, for operators, and for tenants their own images. */

export const locations = pgTable('locations', {
  name: text('name').primaryKey(),
  region: text('region').notNull(),
  zone: text('zone').notNull(),
  description: text('description').notNull().default(''),
  /** Whether every default network that has room got a subnet here. */
  hasSubnets: boolean('has_subnets').notNull().default(true),
});

export const vmTypes = pgTable(
  'vm_types',
  {
    name: text('name').primaryKey(),
    /** The order in which lists show them. */
    position: integer('position').notNull().generatedAlwaysAsIdentity(),
    description: text('description').notNull(),
    cpuCores: integer('cpu_cores').notNull(),
    cpuType: text('cpu_type').notNull(),
    memoryGb: integer('memory_gb').notNull(),
    memoryType: text('memory_type').notNull(),
    diskGb: integer('disk_gb').notNull(),
    diskType: text('disk_type').notNull(),
    diskCount: integer('disk_count').notNull(),
    gpuCount: integer('gpu_count').notNull(),
    gpuType: text('gpu_type').notNull(),
    networkGbps: integer('network_gbps').notNull(),
    /** Whether a VM may use more sockets than its GPUs need, if no host has room otherwise. */
    maySplit: boolean('may_split').notNull().default(false),
    /** Whether guests can run VMs themselves. Never changes, as the resources of a type. */
    nestedVirtualization: boolean('nested_virtualization').notNull().default(false),
    /** New VMs cannot use it; existing VMs keep it. */
    retired: boolean('retired').notNull().default(false),
  },
  (t) => [
    check(
      'vm_types_sizes',
      sql`${t.cpuCores} > 0 and ${t.memoryGb} > 0 and ${t.gpuCount} >= 0 and ${t.diskGb} >= 0`,
    ),
  ],
);

/** The locations in which a type is offered. */
export const vmTypeLocations = pgTable(
  'vm_type_locations',
  {
    vmType: text('vm_type')
      .notNull()
      .references(() => vmTypes.name, { onDelete: 'cascade' }),
    location: text('location')
      .notNull()
      .references(() => locations.name, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.vmType, t.location] })],
);

export const images = pgTable(
  'images',
  {
    id: id(),
    /** The project that made it, whose content `custom_images` describes; null: an image of the catalogue. */
    projectId: uuid('project_id').references(() => projects.id),
    name: text('name').notNull(),
    description: text('description').notNull().default(''),
    tags: text('tags').array().notNull().default([]),
    /**
     * The URL and the hash of the image file; empty for an image of a project, and if only simulated hosts can boot the
     * image.
     */
    sourceUrl: text('source_url').notNull().default(''),
    sha256: text('sha256').notNull().default(''),
    retired: boolean('retired').notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    // One index for the catalogue and for the images of each project. The name of a deleted image of a project is free.
    uniqueIndex('images_owner_name_key')
      .on(t.name, sql`coalesce(project_id, '00000000-0000-0000-0000-000000000000')`)
      .where(sql`project_id is null or not retired`)
      .concurrently(),
  ],
);

export const imageLocations = pgTable(
  'image_locations',
  {
    imageId: uuid('image_id')
      .notNull()
      .references(() => images.id, { onDelete: 'cascade' }),
    location: text('location')
      .notNull()
      .references(() => locations.name, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.imageId, t.location] })],
);

/**
 * USD per hour of a VM type, per GB-hour of a disk type. A type without a row costs 0; its usage is
 * marked as not priced.
 */
export const prices = pgTable(
  'prices',
  {
    resourceType: text('resource_type').primaryKey(),
    usdPerHour: numeric('usd_per_hour', { precision: 18, scale: 8 }).notNull(),
  },
  (t) => [check('prices_not_negative', sql`${t.usdPerHour} >= 0`)],
);
