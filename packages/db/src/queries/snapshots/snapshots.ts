import type { DiskType, SnapshotState } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { type Listing, listed, updateNameAndTags } from '../listing.ts';
import { isBeingCopied } from '../vms/disks-being-copied.ts';

export type SnapshotRow = {
  id: string;
  name: string;
  disk_id: string;
  /** Null: a host stores it. */
  pool_id: string | null;
  /** Null: a pool of a storage cluster stores it. */
  host_id: string | null;
  location: string;
  disk_type: DiskType;
  size_gib: number;
  block_size: number;
  state: SnapshotState;
  problem: string;
  /** Whether the disk is encrypted that it is of. */
  encrypted: boolean;
  tags: Record<string, string>;
  created_at: Date;
  updated_at: Date;
};

const selectSnapshot = (sql: Queryable) => sql`
  select id, name, disk_id, pool_id, host_id, location, disk_type, size_gib, block_size, state, problem, tags, created_at,
    updated_at, coalesce((select q.encrypted from storage_pools q where q.id = pool_id), false) as encrypted
  from snapshots`;

type SnapshotKey = { projectId: string; snapshotId: string };

export async function listSnapshots(sql: Queryable, listing: Listing): Promise<SnapshotRow[]> {
  return await sql<SnapshotRow[]>`${selectSnapshot(sql)} where ${listed(sql, listing)}`;
}

export async function readSnapshot(
  sql: Queryable,
  { projectId, snapshotId }: SnapshotKey,
): Promise<SnapshotRow | undefined> {
  const [row] = await sql<SnapshotRow[]>`
    ${selectSnapshot(sql)} where project_id = ${projectId} and id = ${snapshotId}`;
  return row;
}

export async function readSnapshotById(
  sql: Queryable,
  snapshotId: string,
): Promise<SnapshotRow | undefined> {
  const [row] = await sql<SnapshotRow[]>`${selectSnapshot(sql)} where id = ${snapshotId}`;
  return row;
}

/**
 * Locks a snapshot until the transaction ends and returns it. Requests that use its content share the lock; a request
 * that changes or deletes the snapshot has it alone.
 */
export async function lockSnapshot(
  sql: Queryable,
  { projectId, snapshotId, shared }: SnapshotKey & { shared: boolean },
): Promise<SnapshotRow | undefined> {
  const strength = shared ? sql`for share` : sql`for update`;
  await sql`select from snapshots where project_id = ${projectId} and id = ${snapshotId} ${strength}`;
  return await readSnapshot(sql, { projectId, snapshotId });
}

export type NewSnapshot = {
  id: string;
  projectId: string;
  name: string;
  tags: Record<string, string>;
  diskId: string;
  /** The VM whose guest is frozen; null: none. */
  freezeVmId: string | null;
  at: Date;
};

/** The caller has locked the disk, which has a volume or is stored on a host. */
export async function insertSnapshot(sql: Queryable, snapshot: NewSnapshot): Promise<void> {
  const { id, projectId, name, tags, diskId, freezeVmId, at } = snapshot;
  await sql`insert into snapshots (id, project_id, name, tags, disk_id, pool_id, host_id, location, disk_type, size_gib,
      block_size, created_at, updated_at, freeze_vm_id, freeze_state)
    select ${id}, ${projectId}, ${name}, ${JSON.stringify(tags)}::text::jsonb, d.id, d.pool_id,
      case when d.pool_id is null then d.host_id end, d.location, d.type,
      d.observed_size_gib, case d.block_size when 0 then 512 else d.block_size end, ${at}, ${at},
      ${freezeVmId}::uuid, ${freezeVmId === null ? 'none' : 'wanted'}
    from disks d where d.id = ${diskId}`;
}

export async function updateSnapshot(
  sql: Queryable,
  change: SnapshotKey & { name?: string | undefined; tags?: Record<string, string> | undefined },
): Promise<void> {
  const { projectId, snapshotId, name, tags } = change;
  await updateNameAndTags(sql, { table: 'snapshots', projectId, id: snapshotId, name, tags });
  await sql`update snapshots set updated_at = now() where id = ${snapshotId}`;
}

export async function updateSnapshotDeleted(sql: Queryable, snapshotId: string): Promise<void> {
  await sql`update snapshots set desired_state = 'deleted', updated_at = now() where id = ${snapshotId}`;
}

/** Returns the disks whose content is being copied from the snapshot, or set back to it, and the images that are made from it. */
export async function listUsersOfSnapshot(sql: Queryable, snapshotId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from disks where restore_snapshot_id = ${snapshotId} and restore_snapshot_id is not null
    union select d.id from disks d join operations o on o.resource_id = d.id and o.state = 'IN_PROGRESS'
      where d.source_snapshot_id = ${snapshotId} and d.observed_size_gib is null
    union select id from custom_images where source_snapshot_id = ${snapshotId} and state = 'creating'
    order by id`;
  return rows.map(({ id }) => id);
}

/** What decides whether a host can make snapshots and use them. */
export type StoringHost = {
  id: string;
  name: string;
  fenced: boolean;
  shared_storage: boolean;
  /** Whether its agent knows snapshots of disks that the host stores. */
  knows_snapshots: boolean;
  /** Whether its agent can send the content of a snapshot for an image. */
  sends_images: boolean;
  /** Why its storage can have none; empty: it can. */
  lacks_snapshots: string;
};

const hostOf = (
  sql: Queryable,
) => sql`json_build_object('id', h.id, 'name', h.name, 'fenced', h.state = 'fenced',
    'shared_storage', h.shared_storage,
    'knows_snapshots', coalesce(h.inventory #> '{software,capabilities}' ? 'local_snapshots', false),
    'sends_images', coalesce(h.inventory #> '{software,capabilities}' ? 'image_transfers', false),
    'lacks_snapshots', coalesce((select max(q ->> 'lacksSnapshots')
      from jsonb_array_elements(h.inventory -> 'storagePools') q), ''))`;

/** Returns undefined if the host is gone. */
export async function readStoringHost(
  sql: Queryable,
  hostId: string,
): Promise<StoringHost | undefined> {
  const [row] = await sql<{ host: StoringHost }[]>`
    select ${hostOf(sql)} as host from hosts h where h.id = ${hostId}`;
  return row?.host;
}

/** What decides whether snapshots of a disk can be made, and whether the disk can be set back to one. */
export type DiskStorage = {
  pool_id: string | null;
  /** Whether it is a directory for several VMs. */
  is_shared: boolean;
  /** The host that stores it; null: none yet, or a pool does. */
  host: StoringHost | null;
  restore_snapshot_id: string | null;
  /** Whether a snapshot or a backup of it is being made. */
  snapshotting: boolean;
  /** Whether every VM that it is attached to is stopped and has no host. */
  at_rest: boolean;
};

/** The caller has locked the disk and its VMs. */
export async function readDiskStorage(sql: Queryable, diskId: string): Promise<DiskStorage> {
  const [row] = await sql<DiskStorage[]>`
    select d.pool_id, d.type = 'shared-volume' as is_shared,
      (select ${hostOf(sql)} from hosts h where h.id = d.host_id and d.pool_id is null) as host,
      d.restore_snapshot_id,
      exists (select from snapshots s where s.disk_id = d.id and s.state = 'creating')
        or exists (select from backups b where b.disk_id = d.id and b.state = 'creating') as snapshotting,
      not exists (select from disk_attachments a join vms v on v.id = a.vm_id
        where a.disk_id = d.id and (v.placed or v.state <> 'STATE_SHUTOFF')) as at_rest
    from disks d where d.id = ${diskId}`;
  if (!row) throw new Error('BUG: a locked disk is missing');
  return row;
}

export async function updateDiskRestoring(
  sql: Queryable,
  { diskId, snapshotId }: { diskId: string; snapshotId: string },
): Promise<void> {
  await sql`update disks set restore_snapshot_id = ${snapshotId}, updated_at = now() where id = ${diskId}`;
}

/**
 * Returns the disks of a VM that its guest must not open now: their content is being set back to a snapshot, or their
 * host copies them for one. The caller has locked the VM.
 */
export async function listBusyDisks(sql: Queryable, vmId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from disk_attachments a join disks d on d.id = a.disk_id
    where a.vm_id = ${vmId} and (d.restore_snapshot_id is not null or ${isBeingCopied(sql)}) order by d.id`;
  return rows.map(({ id }) => id);
}

/**
 * Whether a pool may get a new volume of this size, by the same rule as the function `choose_pool`. Volumes that it has
 * may grow although it takes no new ones.
 */
export async function hasPoolRoom(
  sql: Queryable,
  { poolId, gib, grows = false }: { poolId: string; gib: number; grows?: boolean },
): Promise<boolean> {
  const rows = await sql`select from storage_pools where id = ${poolId} and (active or ${grows})
    and (size_gib is null or size_gib::bigint * overcommit_percent / 100 - allocated_gib >= ${gib})`;
  return rows.length > 0;
}

/** The disk becomes a copy of the snapshot, in the snapshot's pool or on its host. */
export async function updateDiskSource(
  sql: Queryable,
  {
    diskId,
    snapshot,
  }: { diskId: string; snapshot: Pick<SnapshotRow, 'id' | 'pool_id' | 'host_id'> },
): Promise<void> {
  await sql`update disks set source_snapshot_id = ${snapshot.id}, pool_id = ${snapshot.pool_id},
      host_id = ${snapshot.host_id}
    where id = ${diskId}`;
}
