import type { Queryable } from '../../connect.ts';

/** What a scheduler records about volumes. The caller has locked the lease of the location. */

export type MadeVolume = { diskId: string; volumeId: string; parentId: string; sizeGib: number };

/** A disk whose volume exists now, and what its metering needs. */
export type DiskWithVolume = {
  project_id: string;
  organization_id: string;
  region: string;
  type: string;
  size_gib: number;
  kind: 'os' | 'data';
  /** Whether an operation of the disk is unfinished: its end begins the metering. */
  has_operation: boolean;
};

/** Returns undefined if there is no such disk any more. */
export async function updateVolumeMade(
  sql: Queryable,
  { diskId, volumeId, parentId, sizeGib }: MadeVolume,
): Promise<DiskWithVolume | undefined> {
  const [row] = await sql<DiskWithVolume[]>`
    update disks d set volume_id = ${volumeId}, volume_parent_id = ${parentId}, volume_problem = '',
      observed_size_gib = least(d.size_gib, ${sizeGib})
    from projects p, locations l where d.id = ${diskId} and d.pool_id is not null and p.id = d.project_id and l.name = d.location
    returning d.project_id, p.organization_id, l.region, d.type, d.size_gib, d.kind,
      exists (select from operations o where o.resource_id = d.id and o.state = 'IN_PROGRESS') as has_operation`;
  return row;
}

export async function updateVolumeGrown(
  sql: Queryable,
  { diskId, sizeGib }: { diskId: string; sizeGib: number },
): Promise<void> {
  await sql`update disks set observed_size_gib = least(size_gib, ${sizeGib}), volume_problem = ''
    where id = ${diskId} and observed_size_gib < ${sizeGib}`;
}

/** Writes only a new problem, because one that lasts is found again and again. */
export async function updateVolumeProblem(
  sql: Queryable,
  { diskId, problem }: { diskId: string; problem: string },
): Promise<void> {
  await sql`update disks set volume_problem = ${problem} where id = ${diskId} and volume_problem <> ${problem}`;
}

/** The disk was removed while its volume was created. */
export async function insertDiscardedVolume(
  sql: Queryable,
  { diskId, poolId }: { diskId: string; poolId: string },
): Promise<void> {
  await sql`insert into discarded_volumes (disk_id, pool_id)
    select ${diskId}, ${poolId} where not exists (select from disks where id = ${diskId}) on conflict do nothing`;
}

export async function removeDiscardedVolume(sql: Queryable, diskId: string): Promise<void> {
  await sql`delete from discarded_volumes where disk_id = ${diskId}`;
}

export async function updateDiscardedProblem(
  sql: Queryable,
  { diskId, problem }: { diskId: string; problem: string },
): Promise<void> {
  await sql`update discarded_volumes set problem = ${problem} where disk_id = ${diskId} and problem <> ${problem}`;
}

/**
 * Returns why the volumes of a disk, or of a VM that is not placed, are not ready, in words for tenants; empty if nothing
 * is known, null if all are ready. What is wrong with a cluster is for operators.
 */
export async function readVolumeProblem(
  sql: Queryable,
  resourceId: string,
): Promise<string | null> {
  const [row] = await sql<{ problem: string }[]>`
    select coalesce(nullif(d.volume_problem, ''), case c.problem when '' then '' else 'the storage cluster cannot be used now' end)
      as problem from disks d
    join storage_pools q on q.id = d.pool_id join storage_clusters c on c.id = q.cluster_id
    where d.id = any(array[${resourceId}::uuid] || array(select disk_id from disk_attachments where vm_id = ${resourceId}))
      and (d.observed_size_gib is distinct from d.size_gib or d.wants_key)
    order by d.volume_problem = '', d.id limit 1`;
  return row?.problem ?? null;
}
