import type { Queryable } from '@gantry/db/connect';
import {
  findPoolOfOtherEncryption,
  insertStorageCluster,
  insertStoragePool,
  isPoolUsed,
  listStorageClusters,
  listStoragePools,
  lockStoragePool,
  removeStorageCluster,
  removeStoragePool,
  type StorageClusterRow,
  type StoragePoolRow,
  updateStoragePool,
} from '@gantry/db/queries/storage/admin-storage';
import { badRequest, CloudError, found } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireLocations } from '../../catalogue/change-locations.ts';
import type { ChangeStoragePool, CreateStorageCluster, CreateStoragePool } from './schema.ts';

type NewCluster = { sql: Queryable; body: z.output<typeof CreateStorageCluster>; now: Date };

export async function requireStorageCluster(
  sql: Queryable,
  clusterId: string,
): Promise<StorageClusterRow> {
  const [row] = await listStorageClusters(sql, { ids: [clusterId], after: null, limit: 1 });
  return found(row, 'storage cluster');
}

export async function requireStoragePool(sql: Queryable, poolId: string): Promise<StoragePoolRow> {
  const only = { ids: [poolId], after: null, limit: 1, clusterId: null, location: null };
  return found((await listStoragePools(sql, only))[0], 'storage pool');
}

/** Schedulers connect to it as soon as it has a pool. Its key is not here: they read it from a file. */
export async function createStorageCluster({
  sql,
  body,
  now,
}: NewCluster): Promise<StorageClusterRow> {
  const id = newId(now.getTime());
  await insertStorageCluster(sql, { id, ...body, created_at: now });
  return await requireStorageCluster(sql, id);
}

/** The database refuses to remove a cluster that has pools or fences. */
export async function deleteStorageCluster(
  sql: Queryable,
  clusterId: string,
): Promise<StorageClusterRow> {
  const row = await requireStorageCluster(sql, clusterId);
  await removeStorageCluster(sql, clusterId);
  return row;
}

type NewPool = { sql: Queryable; body: z.output<typeof CreateStoragePool>; now: Date };

export async function createStoragePool({ sql, body, now }: NewPool): Promise<StoragePoolRow> {
  const { storage_cluster_id: clusterId, ...wanted } = body;
  const pool = { ...wanted, file_system: requireFileSystem(body) };
  await requireLocations(sql, [body.location]);
  await requireStorageCluster(sql, clusterId);
  const id = newId(now.getTime());
  if (body.active) await requireSameEncryption(sql, { id, ...pool }, 'encrypted');
  await insertStoragePool(sql, { id, cluster_id: clusterId, ...pool, created_at: now });
  return await requireStoragePool(sql, id);
}

/** Returns the file system of a pool of shared volumes, and an empty text for other pools. */
function requireFileSystem(body: NewPool['body']): string {
  const { disk_type, file_system = '', encrypted } = body;
  const isShared = disk_type === 'shared-volume';
  const refuse = (field: string, reason: string) => badRequest([{ field, reason }]);
  if (isShared && file_system === '')
    throw refuse('file_system', 'is required for the disk type shared-volume');
  if (!isShared && file_system !== '')
    throw refuse('file_system', `must be absent for the disk type ${disk_type}`);
  if (isShared && encrypted)
    throw refuse('encrypted', 'must be false: hosts cannot encrypt shared volumes');
  return file_system;
}

/** Otherwise the space of the pools would decide whether a new disk is encrypted. */
async function requireSameEncryption(
  sql: Queryable,
  pool: Pick<StoragePoolRow, 'id' | 'location' | 'disk_type' | 'encrypted'>,
  field: 'active' | 'encrypted',
): Promise<void> {
  const other = await findPoolOfOtherEncryption(sql, pool);
  if (other === undefined) return;
  const differs = pool.encrypted ? 'is not encrypted' : 'is encrypted';
  const reason = `the active pool ${other} of this location ${differs}: set its active to false first`;
  throw badRequest([{ field, reason }]);
}

type PoolChange = { sql: Queryable; poolId: string; body: z.output<typeof ChangeStoragePool> };

export async function changeStoragePool({
  sql,
  poolId,
  body,
}: PoolChange): Promise<StoragePoolRow> {
  const pool = found(await lockStoragePool(sql, poolId), 'storage pool');
  if (body.active) await requireSameEncryption(sql, pool, 'active');
  const { active = null, overcommit_percent: overcommitPercent = null } = body;
  await updateStoragePool(sql, { poolId, active, overcommitPercent });
  return await requireStoragePool(sql, poolId);
}

/** Keys and volumes that a scheduler has yet to remove keep the pool, too: the database refuses its removal. */
export async function deleteStoragePool(sql: Queryable, poolId: string): Promise<StoragePoolRow> {
  const row = found(await lockStoragePool(sql, poolId), 'storage pool');
  if (row.active || (await isPoolUsed(sql, poolId))) {
    throw new CloudError(
      'conflict',
      'the pool is active or stores disks: set active to false, and delete the disks first',
    );
  }
  await removeStoragePool(sql, poolId);
  return row;
}
