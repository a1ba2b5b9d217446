import type { Queryable } from '../../connect.ts';
import { hasBackupWork } from './backup-conditions.ts';

/** What schedulers have to do in storage clusters. */

/** A row of a key is written before the key is made, as revoked. It is removed only if the key was not made in this time. */
const KEY_LIMIT = '1 minute';

/** The disk `d` has no known volume yet, or a smaller one that no host grows. Hosts never grow shared volumes. The first line is the condition of an index. */
const hasVolumeToChange = (
  sql: Queryable,
) => sql`d.pool_id is not null and (d.observed_size_gib is null or d.observed_size_gib < d.size_gib)
  and d.desired_state = 'present' and (d.observed_size_gib is null or d.type = 'shared-volume' or not exists (select from disk_attachments a join vms v on v.id = a.vm_id
    where a.disk_id = d.id and v.placed))`;

/** The disk `d` has a volume, and a key of it has to be made. */
const hasKeyToMake = (sql: Queryable) =>
  sql`d.wants_key and d.volume_id <> '' and d.desired_state = 'present'`;

const isKeyToRemove = (sql: Queryable) =>
  sql`k.revoked and (k.sealed_key <> '' or k.created_at < now() - ${KEY_LIMIT}::interval)`;

/** The discarded volume `v` has no snapshot. A volume stays until its last snapshot is deleted and its last backup is made. */
const isUnused = (sql: Queryable) =>
  sql`not exists (select from snapshots s where s.disk_id = v.disk_id)
    and not exists (select from backups b where b.disk_id = v.disk_id and b.state = 'creating')`;

/**
 * The image `c` has to be made, or to be removed because no VM has it. The first line is the condition of an index. With
 * "=", the planner would assume that many VMs have the image, and look for one by reading all VMs.
 */
export const isUnsettledImage = (
  sql: Queryable,
) => sql`(c.desired_state = 'deleted' or (c.observed_state = 'none' and c.uploaded))
  and (c.desired_state = 'present' or (select v.id from vms v where v.image_id between c.id and c.id limit 1) is null)`;

/** Whether there is anything to do in the locations, as part of a statement over small indexes. */
export function hasVolumeWork(sql: Queryable, locations: readonly string[]) {
  const here = sql`any(${[...locations]}::text[])`;
  return sql`(exists (select from disks d where ${hasVolumeToChange(sql)} and d.location = ${here})
    or exists (select from disks d where ${hasKeyToMake(sql)} and d.location = ${here})
    or exists (select from volume_keys k join storage_pools q on q.id = k.pool_id
      where ${isKeyToRemove(sql)} and q.location = ${here})
    or exists (select from discarded_volumes v join storage_pools q on q.id = v.pool_id
      where q.location = ${here} and ${isUnused(sql)})
    or exists (select from snapshots s where s.location = ${here} and s.pool_id is not null
      and (s.desired_state = 'deleted' or s.observed_state = 'none'))
    or exists (select from custom_images c where c.location = ${here} and c.pool_id is not null and ${isUnsettledImage(sql)})
    or exists (select from disks d where d.restore_snapshot_id is not null and d.pool_id is not null
      and d.location = ${here})
    or ${hasBackupWork(sql, locations)})`;
}

export const hasPools = (sql: Queryable, locations: readonly string[]) =>
  sql`exists (select from storage_pools where location = any(${[...locations]}::text[]))`;

/** Where a volume is. */
export type VolumePlace = { cluster_id: string; pool_id: string; pool: string };

/** `file_system`: the one of a shared volume; empty: the volume is a block device. */
export type DiskPlace = VolumePlace & { file_system: string };

export type VolumeToChange = DiskPlace & {
  disk_id: string;
  size_gib: number;
  /** Null if the volume does not exist yet. */
  observed_size_gib: number | null;
  /** Whether its volume is encrypted. */
  encrypted: boolean;
  /** The image of an OS disk; null for a data disk. */
  image: { id: string; name: string; url: string; sha256: string; is_custom: boolean } | null;
  /** The snapshot that a new volume is copied from; its `disk_id` is null if it was deleted. */
  source: { snapshot_id: string; disk_id: string | null } | null;
  /** The backups that a new volume is made of, the whole one first; null if it is made of none. */
  backups: BackupFile[] | null;
};

/** The file of a backup. */
export type BackupFile = { id: string; disk_id: string; sha256: string };

/** `notIds`: what is being done, or was tried a moment ago. `notClusters`: clusters that did not reply a moment ago. */
export type WorkSelection = {
  location: string;
  limit: number;
  notIds: readonly string[];
  notClusters: readonly string[];
};

/** The pool `q` is in the location and its cluster replies. */
const isIn = (sql: Queryable, { location, notClusters }: WorkSelection) =>
  sql`q.location = ${location} and q.cluster_id <> all(${[...notClusters]}::uuid[])`;

const place = (sql: Queryable) => sql`q.cluster_id, q.id as pool_id, q.name as pool, q.file_system`;

/** The backup that the disk `d` is made of, and all that it is based on. */
const backupChain = (sql: Queryable) => sql`(with recursive chain as (
    select id, disk_id, sha256, parent_id, 0 as depth from backups where id = d.source_backup_id and state = 'ready'
    union all select b.id, b.disk_id, b.sha256, b.parent_id, c.depth + 1 from chain c join backups b on b.id = c.parent_id)
  select coalesce(json_agg(json_build_object('id', id, 'disk_id', disk_id, 'sha256', sha256) order by depth desc), '[]')
  from chain)`;

/** Copies are the last ones, because they take long and few of them run at the same time. */
export async function listVolumesToChange(
  sql: Queryable,
  selection: WorkSelection,
): Promise<VolumeToChange[]> {
  return await sql<VolumeToChange[]>`
    select d.id as disk_id, d.size_gib, d.observed_size_gib, q.encrypted, ${place(sql)},
      (select json_build_object('id', i.id, 'name', i.name, 'url', i.source_url, 'sha256', i.sha256,
          'is_custom', i.project_id is not null)
        from disk_attachments a join vms v on v.id = a.vm_id join images i on i.id = v.image_id
        where a.disk_id = d.id and a.attachment_type = 'os') as image,
      case when d.source_snapshot_id is not null then json_build_object('snapshot_id', d.source_snapshot_id,
        'disk_id', (select s.disk_id from snapshots s where s.id = d.source_snapshot_id)) end as source,
      case when d.source_backup_id is not null then ${backupChain(sql)} end as backups
    from disks d join storage_pools q on q.id = d.pool_id
    where ${hasVolumeToChange(sql)} and ${isIn(sql, selection)} and d.id <> all(${[...selection.notIds]}::uuid[])
    order by coalesce(d.source_snapshot_id, d.source_backup_id) is not null and d.observed_size_gib is null, d.id limit ${selection.limit}`;
}

export type KeyToMake = DiskPlace & { disk_id: string };

export async function listKeysToMake(
  sql: Queryable,
  selection: WorkSelection,
): Promise<KeyToMake[]> {
  return await sql<KeyToMake[]>`
    select d.id as disk_id, ${place(sql)} from disks d join storage_pools q on q.id = d.pool_id
    where ${hasKeyToMake(sql)} and ${isIn(sql, selection)} and d.id <> all(${[...selection.notIds]}::uuid[])
    order by d.id limit ${selection.limit}`;
}

/** `is_unmade`: it was not recorded that the key was made. */
export type KeyToRemove = VolumePlace & { entity: string; is_unmade: boolean };

export async function listKeysToRemove(
  sql: Queryable,
  selection: Omit<WorkSelection, 'notIds'> & { notEntities: readonly string[] },
): Promise<KeyToRemove[]> {
  return await sql<KeyToRemove[]>`
    select k.entity, k.sealed_key = '' as is_unmade, ${place(sql)} from volume_keys k join storage_pools q on q.id = k.pool_id
    where ${isKeyToRemove(sql)} and ${isIn(sql, { ...selection, notIds: [] })}
      and k.entity <> all(${[...selection.notEntities]}::text[])
    order by k.entity limit ${selection.limit}`;
}

export type DiscardedVolume = DiskPlace & { disk_id: string };

export async function listDiscardedVolumes(
  sql: Queryable,
  selection: WorkSelection,
): Promise<DiscardedVolume[]> {
  return await sql<DiscardedVolume[]>`
    select v.disk_id, ${place(sql)} from discarded_volumes v join storage_pools q on q.id = v.pool_id
    where ${isIn(sql, selection)} and ${isUnused(sql)} and v.disk_id <> all(${[...selection.notIds]}::uuid[])
    order by v.discarded_at, v.disk_id limit ${selection.limit}`;
}
