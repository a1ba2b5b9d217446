import type { Queryable } from '../../connect.ts';
import type { FreezeState } from '../../schema/snapshots.ts';
import { isFreezeLost } from './snapshot-work.ts';

/** Snapshots of disks that hosts store. A host carries out the orders of its spec, and its reports settle them. */

export type SpecSnapshotRow = { id: string; disk_id: string; frozen: boolean };
/** What a disk of a spec has besides, if it is to be created from a snapshot. */
export type SpecCopyRow = { snapshot_id: string };
export type SpecRestoreRow = {
  /** The last operation that ordered it, so that no two orders have the same id. */
  id: string;
  disk_id: string;
  snapshot_id: string;
  size_gib: number;
};

/** The snapshots that the host of `r` has to make, as JSON of `SpecSnapshotRow`s: after their guest is frozen. */
export const snapshotsJson = (
  sql: Queryable,
) => sql`(select coalesce(json_agg(json_build_object('id', s.id, 'disk_id', s.disk_id,
      'frozen', s.freeze_vm_id is not null) order by s.id), '[]') from snapshots s
    where s.host_id = r.host_id and s.desired_state = 'present' and s.observed_state = 'none'
      and s.freeze_state in ('none', 'frozen', 'taken', 'held'))`;

export const deletedSnapshotIds = (sql: Queryable) => sql`array(select s.id::text from snapshots s
  where s.host_id = r.host_id and s.desired_state = 'deleted' order by s.id)`;

/** The disks that the host of `r` has to create from snapshots; `disk` is their JSON. */
export const copiesJson = (
  sql: Queryable,
  disk: ReturnType<typeof snapshotsJson>,
) => sql`(select coalesce(json_agg(${disk}::jsonb || jsonb_build_object('snapshot_id', d.source_snapshot_id)
      order by d.id), '[]') from disks d
    where d.host_id = r.host_id and d.pool_id is null and d.source_snapshot_id is not null
      and d.observed_size_gib is null and d.desired_state = 'present')`;

export const restoresJson = (
  sql: Queryable,
) => sql`(select coalesce(json_agg(json_build_object('id', ${restoreId(sql)}, 'disk_id', d.id,
      'snapshot_id', d.restore_snapshot_id, 'size_gib', d.size_gib) order by d.id), '[]') from disks d
    where d.host_id = r.host_id and d.pool_id is null and d.restore_snapshot_id is not null
      and ${restoreId(sql)} is not null)`;

const restoreId = (sql: Queryable) => sql`(select o.id from operations o where o.resource_id = d.id
  and o.name = 'RESTORE' order by o.id desc limit 1)`;

/**
 * The snapshot `s` was to be made or removed by a host that is gone, or of a guest that was not frozen. The third line is
 * the condition of an index.
 */
export const isLostSnapshot = (
  sql: Queryable,
) => sql`s.host_id is not null and (s.desired_state = 'deleted' or s.observed_state = 'none')
  and (not exists (select from hosts h where h.id = s.host_id and h.state <> 'fenced')
    or s.desired_state = 'present' and (s.freeze_state in ('expired', 'failed') or ${isFreezeLost(sql)}))`;

export type LostSnapshot = {
  id: string;
  wanted: 'present' | 'deleted';
  freeze_state: FreezeState;
  problem: string;
  host_is_gone: boolean;
};

export async function listLostSnapshots(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select s.id from snapshots s where ${isLostSnapshot(sql)} order by s.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Locks a snapshot that no host will settle. Returns undefined if that has changed, or another process has locked it. */
export async function lockLostSnapshot(
  sql: Queryable,
  snapshotId: string,
): Promise<LostSnapshot | undefined> {
  await sql`select from snapshots where id = ${snapshotId} for update skip locked`;
  const [row] = await sql<LostSnapshot[]>`
    select s.id, s.desired_state as wanted, s.freeze_state, s.problem,
      not exists (select from hosts h where h.id = s.host_id and h.state <> 'fenced') as host_is_gone
    from snapshots s where s.id = ${snapshotId} and ${isLostSnapshot(sql)}`;
  return row;
}

export type HostSnapshot = { freeze_state: FreezeState };

/** Locks a snapshot that this host has to make. Returns undefined if it has not, or not any more. */
export async function lockUnmadeSnapshot(
  sql: Queryable,
  { hostId, snapshotId }: { hostId: string; snapshotId: string },
): Promise<HostSnapshot | undefined> {
  const [row] = await sql<HostSnapshot[]>`
    select freeze_state from snapshots where id = ${snapshotId} and host_id = ${hostId}
      and desired_state = 'present' and observed_state = 'none' for update`;
  return row;
}

/** Locks a snapshot that this host has to remove. Returns false if it has not. */
export async function lockRemovedSnapshot(
  sql: Queryable,
  { hostId, snapshotId }: { hostId: string; snapshotId: string },
): Promise<boolean> {
  const rows = await sql`select from snapshots where id = ${snapshotId} and host_id = ${hostId}
    and desired_state = 'deleted' for update`;
  return rows.length > 0;
}

/** Returns whether the host has to create the disk from a snapshot. */
export async function isCopyOfHost(
  sql: Queryable,
  { hostId, diskId }: { hostId: string; diskId: string },
): Promise<boolean> {
  const rows =
    await sql`select from disks where id = ${diskId} and host_id = ${hostId} and pool_id is null
    and source_snapshot_id is not null and observed_size_gib is null and desired_state = 'present'`;
  return rows.length > 0;
}

export type RestoreOfHost = {
  disk_id: string;
  project_id: string;
  snapshot_id: string;
  /** Whether the tenant still waits for it. */
  awaited: boolean;
};

/** Locks the disk that this host sets back by an order, if it is still to be set back by it. */
export async function lockRestoreOfHost(
  sql: Queryable,
  { hostId, orderId }: { hostId: string; orderId: string },
): Promise<RestoreOfHost | undefined> {
  await sql`select from disks where id = (select resource_id from operations where id = ${orderId}) for update`;
  const [row] = await sql<RestoreOfHost[]>`
    select d.id as disk_id, d.project_id, d.restore_snapshot_id as snapshot_id, o.state = 'IN_PROGRESS' as awaited
    from operations o join disks d on d.id = o.resource_id
    where o.id = ${orderId} and d.host_id = ${hostId} and d.pool_id is null and d.restore_snapshot_id is not null
      and ${restoreId(sql)} = o.id`;
  return row;
}
