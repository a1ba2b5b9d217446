import { DISK_TYPES, LIMITED_DISK_TYPES } from '@gantry/model/states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, moment, oneOf, updatedAt } from './columns.ts';

/**
 * Network storage. The api writes clusters and pools; the scheduler writes the columns under "scheduler" and the other
 * tables. docs/decisions/0018-the-control-plane-owns-volumes.md explains the model.
 */

/** A Ceph cluster. Its key is not here: only schedulers have it, as a file. */
export const storageClusters = pgTable(
  'storage_clusters',
  {
    id: id(),
    name: text('name').notNull(),
    /** Addresses of monitors with their ports, as hosts and schedulers reach them. */
    monitors: text('monitors').array().notNull(),
    /** The name of the schedulers' key, without "client.". */
    userName: text('user_name').notNull(),
    createdAt: createdAt(),
    // scheduler:
    /** The cluster's own id; empty before the first contact. A cluster with another id is never touched. */
    fsid: text('fsid').notNull().default(''),
    /** Why it cannot be used; empty: nothing is known to be wrong. */
    problem: text('problem').notNull().default(''),
  },
  (t) => [unique('storage_clusters_name_key').on(t.name)],
);

/** A pool stores the disks of one type in one location. */
export const storagePools = pgTable(
  'storage_pools',
  {
    id: id(),
    clusterId: uuid('cluster_id')
      .notNull()
      .references(() => storageClusters.id),
    /** Its name in the cluster. */
    name: text('name').notNull(),
    /** The CephFS file system that has shared volumes in this pool; empty: the pool stores block devices. */
    fileSystem: text('file_system').notNull().default(''),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    diskType: text('disk_type').notNull(),
    /** Whether new disks may be created in it. */
    active: boolean('active').notNull().default(true),
    /** Whether all its disks are encrypted. It never changes, so a disk is encrypted if its pool is. */
    encrypted: boolean('encrypted').notNull().default(false),
    /** How large all volumes together may be, as a share of the pool. */
    overcommitPercent: integer('overcommit_percent').notNull().default(100),
    createdAt: createdAt(),
    // scheduler:
    /** Null before the first contact. */
    sizeGib: integer('size_gib'),
    usedGib: integer('used_gib').notNull().default(0),
    /** The size of all volumes together, as of the last look. */
    allocatedGib: integer('allocated_gib').notNull().default(0),
    observedAt: moment('observed_at'),
    problem: text('problem').notNull().default(''),
  },
  (t) => [
    unique('storage_pools_name_key').on(t.clusterId, t.name),
    index('storage_pools_location').on(t.location, t.diskType),
    oneOf('storage_pools_disk_type', t.diskType, DISK_TYPES),
    check('storage_pools_overcommit', sql`${t.overcommitPercent} between 1 and 100000`),
  ],
);

/**
 * How much a guest can read from and write to each disk of a type. Zero: no limit. A migration inserted a row for each
 * type that has limits; the api changes them.
 */
export const diskLimits = pgTable(
  'disk_limits',
  {
    diskType: text('disk_type').primaryKey(),
    totalIops: bigint('total_iops', { mode: 'number' }).notNull().default(0),
    readIops: bigint('read_iops', { mode: 'number' }).notNull().default(0),
    writeIops: bigint('write_iops', { mode: 'number' }).notNull().default(0),
    totalBytesPerSecond: bigint('total_bytes_per_second', { mode: 'number' }).notNull().default(0),
    readBytesPerSecond: bigint('read_bytes_per_second', { mode: 'number' }).notNull().default(0),
    writeBytesPerSecond: bigint('write_bytes_per_second', { mode: 'number' }).notNull().default(0),
    /** Added to the totals for each GiB of a disk. */
    iopsPerGib: bigint('iops_per_gib', { mode: 'number' }).notNull().default(0),
    bytesPerSecondPerGib: bigint('bytes_per_second_per_gib', { mode: 'number' })
      .notNull()
      .default(0),
    /** For a short time a guest can exceed its limits up to this share of them. */
    burstPercent: integer('burst_percent').notNull().default(0),
    burstSeconds: integer('burst_seconds').notNull().default(0),
    updatedAt: updatedAt(),
  },
  (t) => [
    oneOf('disk_limits_disk_type', t.diskType, LIMITED_DISK_TYPES),
    check(
      'disk_limits_not_negative',
      sql`least(${t.totalIops}, ${t.readIops}, ${t.writeIops}, ${t.totalBytesPerSecond}, ${t.readBytesPerSecond},
        ${t.writeBytesPerSecond}, ${t.iopsPerGib}, ${t.bytesPerSecondPerGib}, ${t.burstPercent}, ${t.burstSeconds}) >= 0`,
    ),
    check(
      'disk_limits_total_or_each',
      sql`(${t.totalIops} + ${t.iopsPerGib} = 0 or ${t.readIops} + ${t.writeIops} = 0)
        and (${t.totalBytesPerSecond} + ${t.bytesPerSecondPerGib} = 0 or ${t.readBytesPerSecond} + ${t.writeBytesPerSecond} = 0)`,
    ),
  ],
);

/** An image of the catalogue in a pool. OS disks are clones of it. */
export const poolImages = pgTable(
  'pool_images',
  {
    poolId: uuid('pool_id')
      .notNull()
      .references(() => storagePools.id),
    /** The image's content; its volume has the name "image-" and this. */
    sha256: text('sha256').notNull(),
    /** The cluster's id of the volume; empty until it is complete. */
    volumeId: text('volume_id').notNull().default(''),
    /** The size of the image as a disk. Zero until it is complete. */
    sizeGib: integer('size_gib').notNull().default(0),
    problem: text('problem').notNull().default(''),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.poolId, t.sha256] })],
);

/**
 * A key opens one volume. It is made in advance, assigned to a host when a VM with the disk is placed there, and never
 * assigned to a second host. Triggers assign and revoke it; the scheduler makes it and removes it from the cluster.
 */
export const volumeKeys = pgTable(
  'volume_keys',
  {
    /** The name of the key in the cluster, without "client.". */
    entity: text('entity').primaryKey(),
    /** There is no foreign key, because the key outlives the disk until it is removed from the cluster. */
    diskId: uuid('disk_id').notNull(),
    poolId: uuid('pool_id')
      .notNull()
      .references(() => storagePools.id),
    /** The host that may know it; null: none has it yet. */
    hostId: uuid('host_id'),
    /** Sealed with the key that only schedulers have. */
    sealedKey: text('sealed_key').notNull(),
    /** No VM of the host has the disk any more: the key is to be removed from the cluster. */
    revoked: boolean('revoked').notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    index('volume_keys_disk').on(t.diskId),
    index('volume_keys_host').on(t.hostId),
    index('volume_keys_revoked').on(t.entity).where(sql`revoked`),
  ],
);

/**
 * The passphrase of an encrypted volume, which hosts get together with a key. The scheduler makes it before the volume,
 * and destroys it when neither the volume nor a backup of it exists any more: then no copy of the data can be read.
 */
export const volumePassphrases = pgTable(
  'volume_passphrases',
  {
    /** There is no foreign key, because the passphrase outlives the disk until its volume and its backups are removed. */
    diskId: uuid('disk_id').primaryKey(),
    poolId: uuid('pool_id')
      .notNull()
      .references(() => storagePools.id),
    /** Sealed with the key that only schedulers have. */
    sealedPassphrase: text('sealed_passphrase').notNull(),
    createdAt: createdAt(),
  },
  (t) => [index('volume_passphrases_pool').on(t.poolId)],
);

/** A volume whose disk no longer exists. The row stays until the volume is gone from the cluster. */
export const discardedVolumes = pgTable(
  'discarded_volumes',
  {
    /** The disk's id, which is the volume's name. */
    diskId: uuid('disk_id').primaryKey(),
    poolId: uuid('pool_id')
      .notNull()
      .references(() => storagePools.id),
    discardedAt: moment('discarded_at').notNull().defaultNow(),
    /** Why the last attempt to remove it failed. */
    problem: text('problem').notNull().default(''),
  },
  (t) => [index('discarded_volumes_pool').on(t.poolId)],
);

/**
 * A fence of a host in a storage cluster: its clients can no longer read or write there. The row is written before the
 * cluster gets the command, so that no fence is ever unknown, and it is removed after the cluster has lifted the fence.
 */
export const storageFences = pgTable(
  'storage_fences',
  {
    clusterId: uuid('cluster_id')
      .notNull()
      .references(() => storageClusters.id),
    /** There is no foreign key, because the fence outlives the host. */
    hostId: uuid('host_id').notNull(),
    /** Addresses, or addresses of single clients, as the cluster's blocklist has them. */
    addresses: text('addresses').array().notNull(),
    createdAt: createdAt(),
    /** When the cluster had the fence, and no client of the host had a watch or a lock; null before. */
    effectiveAt: moment('effective_at'),
    /** The host is back, and its agent has proved that it runs no VM: the fence is to be lifted. */
    liftable: boolean('liftable').notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.clusterId, t.hostId] })],
);
