import type { DiskType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';

/** Storage clusters and pools as operators see and change them. */

export type StorageClusterRow = {
  id: string;
  name: string;
  monitors: string[];
  user_name: string;
  fsid: string;
  problem: string;
  created_at: Date;
};

export type StoragePoolRow = {
  id: string;
  cluster_id: string;
  name: string;
  file_system: string;
  location: string;
  disk_type: DiskType;
  active: boolean;
  encrypted: boolean;
  overcommit_percent: number;
  size_gib: number | null;
  used_gib: number;
  allocated_gib: number;
  observed_at: Date | null;
  problem: string;
  created_at: Date;
};

export async function listStorageClusters(
  sql: Queryable,
  filter: IdListing,
): Promise<StorageClusterRow[]> {
  return await sql<StorageClusterRow[]>`
    select id, name, monitors, user_name, fsid, problem, created_at from storage_clusters
    where ${listedByIds(sql, filter)} ${idOrder(sql, filter)}`;
}

export async function insertStorageCluster(
  sql: Queryable,
  cluster: Pick<StorageClusterRow, 'id' | 'name' | 'monitors' | 'user_name' | 'created_at'>,
): Promise<void> {
  const { id, name, monitors, user_name, created_at } = cluster;
  await sql`insert into storage_clusters (id, name, monitors, user_name, created_at)
    values (${id}, ${name}, ${monitors}, ${user_name}, ${created_at})`;
}

/** Pools and fences refer to it: then the database refuses to remove it. */
export async function removeStorageCluster(sql: Queryable, clusterId: string): Promise<void> {
  await sql`delete from storage_clusters where id = ${clusterId}`;
}

export async function listStoragePools(
  sql: Queryable,
  filter: IdListing & { clusterId: string | null; location: string | null },
): Promise<StoragePoolRow[]> {
  const { clusterId, location } = filter;
  return await sql<StoragePoolRow[]>`
    select id, cluster_id, name, file_system, location, disk_type, active, encrypted, overcommit_percent, size_gib,
      used_gib, allocated_gib, observed_at, problem, created_at from storage_pools
    where ${listedByIds(sql, filter)} and (${clusterId}::uuid is null or cluster_id = ${clusterId}::uuid)
      and (${location}::text is null or location = ${location}::text)
    ${idOrder(sql, filter)}`;
}

/** Locks the pool, so that no disk is created in it until the transaction ends. */
export async function lockStoragePool(
  sql: Queryable,
  poolId: string,
): Promise<StoragePoolRow | undefined> {
  await sql`select from storage_pools where id = ${poolId} for update`;
  const only = { ids: [poolId], after: null, limit: 1, clusterId: null, location: null };
  return (await listStoragePools(sql, only))[0];
}

export async function insertStoragePool(
  sql: Queryable,
  pool: Pick<
    StoragePoolRow,
    | 'id'
    | 'cluster_id'
    | 'name'
    | 'file_system'
    | 'location'
    | 'disk_type'
    | 'active'
    | 'encrypted'
    | 'overcommit_percent'
    | 'created_at'
  >,
): Promise<void> {
  await sql`insert into storage_pools (id, cluster_id, name, file_system, location, disk_type, active, encrypted,
      overcommit_percent, created_at)
    values (${pool.id}, ${pool.cluster_id}, ${pool.name}, ${pool.file_system}, ${pool.location}, ${pool.disk_type},
      ${pool.active}, ${pool.encrypted}, ${pool.overcommit_percent}, ${pool.created_at})`;
}

/**
 * Returns the name of an active pool that stores the same disks as this one and differs in encryption. Locks the location,
 * so that no other pool of it becomes active until the transaction ends.
 */
export async function findPoolOfOtherEncryption(
  sql: Queryable,
  pool: Pick<StoragePoolRow, 'id' | 'location' | 'disk_type' | 'encrypted'>,
): Promise<string | undefined> {
  await sql`select from locations where name = ${pool.location} for no key update`;
  const [row] = await sql<{ name: string }[]>`select name from storage_pools
    where location = ${pool.location} and disk_type = ${pool.disk_type} and active and encrypted <> ${pool.encrypted}
      and id <> ${pool.id} order by id limit 1`;
  return row?.name;
}

export async function updateStoragePool(
  sql: Queryable,
  change: { poolId: string; active: boolean | null; overcommitPercent: number | null },
): Promise<void> {
  await sql`update storage_pools set active = coalesce(${change.active}, active),
      overcommit_percent = coalesce(${change.overcommitPercent}, overcommit_percent) where id = ${change.poolId}`;
}

/** Returns whether a disk, a snapshot or an image of a project is in the pool. Keys and volumes that wait for their removal refer to the pool. */
export async function isPoolUsed(sql: Queryable, poolId: string): Promise<boolean> {
  const [row] = await sql<{ used: boolean }[]>`
    select exists (select from disks where pool_id = ${poolId})
      or exists (select from snapshots where pool_id = ${poolId})
      or exists (select from custom_images where pool_id = ${poolId}) as used`;
  return row?.used ?? false;
}

/** The volumes of images of the catalogue stay in the cluster. */
export async function removeStoragePool(sql: Queryable, poolId: string): Promise<void> {
  await sql`delete from pool_images where pool_id = ${poolId}`;
  await sql`delete from storage_pools where id = ${poolId}`;
}
