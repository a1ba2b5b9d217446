import type { Queryable } from '../../connect.ts';

/** What the database knows about the content of a pool, for the sweep. */
export type KnownVolumes = {
  /** The names of all volumes that may exist: of disks, of images, and of disks that were removed. */
  allowed: string[];
  /** The names of the volumes that must exist. */
  required: string[];
  /** The keys that may exist in the cluster. */
  keys: string[];
  /** The keys of the pool that must exist. */
  requiredKeys: string[];
};

export async function readKnownVolumes(sql: Queryable, poolId: string): Promise<KnownVolumes> {
  const [row] = await sql<KnownVolumes[]>`
    select array(select id::text from disks where pool_id = ${poolId}
        union all select disk_id::text from discarded_volumes where pool_id = ${poolId}
        union all select 'image-' || sha256 from pool_images where pool_id = ${poolId}
        union all select 'image-' || id from custom_images where pool_id = ${poolId}) as allowed,
      array(select id::text from disks where pool_id = ${poolId} and volume_id <> ''
        union all select 'image-' || sha256 from pool_images where pool_id = ${poolId} and volume_id <> ''
        union all select 'image-' || id from custom_images where pool_id = ${poolId} and state = 'ready') as required,
      array(select k.entity from volume_keys k join storage_pools q on q.id = k.pool_id
        where q.cluster_id = (select cluster_id from storage_pools where id = ${poolId})) as keys,
      array(select entity from volume_keys where pool_id = ${poolId} and not revoked) as "requiredKeys"`;
  return row ?? { allowed: [], required: [], keys: [], requiredKeys: [] };
}
