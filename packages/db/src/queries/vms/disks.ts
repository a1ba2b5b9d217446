import type { AttachmentMode, DISK_STATES, DiskType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { type Listing, listed, replaceTags } from '../listing.ts';
import { isBeingCopied } from './disks-being-copied.ts';

export type DiskAttachmentRow = {
  vm_id: string;
  attachment_type: 'os' | 'data';
  mode: AttachmentMode;
};

export type DiskRow = {
  id: string;
  kind: 'os' | 'data';
  name: string;
  type: DiskType;
  size: string;
  size_gib: number;
  location: string;
  block_size: number;
  serial_number: string;
  state: (typeof DISK_STATES)[number];
  /** Whether a storage cluster stores it. */
  in_pool: boolean;
  /** Whether the storage cluster has it encrypted. */
  encrypted: boolean;
  /** Whether its content is being set back to a snapshot. */
  restoring: boolean;
  /** Whether its host makes a snapshot of it now. */
  copying: boolean;
  tags: Record<string, string>;
  created_at: Date;
  updated_at: Date;
  /** Includes attachments that are being detached, until a host reports that the disk is gone. */
  attachments: DiskAttachmentRow[];
};

export const selectDisk = (sql: Queryable) => sql`
  select d.id, d.kind, d.name, d.type, d.size, d.size_gib, d.location, d.block_size, d.serial_number, d.state, d.tags,
    d.pool_id is not null as in_pool,
    coalesce((select q.encrypted from storage_pools q where q.id = d.pool_id), false) as encrypted, d.restore_snapshot_id is not null as restoring,
    ${isBeingCopied(sql)} as copying, d.created_at, d.updated_at,
    (select coalesce(json_agg(json_build_object('vm_id', a.vm_id, 'attachment_type', a.attachment_type, 'mode', a.mode)
        order by a.created_at, a.vm_id), '[]')
      from disk_attachments a where a.disk_id = d.id) as attachments
  from disks d`;

type DiskKey = { projectId: string; diskId: string };

export async function listDisks(sql: Queryable, listing: Listing): Promise<DiskRow[]> {
  return await sql<DiskRow[]>`${selectDisk(sql)} where ${listed(sql, listing)}`;
}

export async function readDisk(
  sql: Queryable,
  { projectId, diskId }: DiskKey,
): Promise<DiskRow | undefined> {
  const [row] = await sql<
    DiskRow[]
  >`${selectDisk(sql)} where d.project_id = ${projectId} and d.id = ${diskId}`;
  return row;
}

/**
 * Returns those of the disks that belong to the project, and locks them until the transaction ends.
 * The locks are taken in the order of ids, so that two requests cannot deadlock.
 */
export async function lockDisks(
  sql: Queryable,
  { projectId, diskIds }: { projectId: string; diskIds: string[] },
): Promise<DiskRow[]> {
  await sql`select from disks where project_id = ${projectId} and id = any(${diskIds}::uuid[]) order by id for update`;
  return await sql<DiskRow[]>`${selectDisk(sql)}
    where d.project_id = ${projectId} and d.id = any(${diskIds}::uuid[])`;
}

/**
 * Locks the VMs of a disk. VMs are locked before disks, so this is called before the disk is
 * locked.
 */
export async function lockVmsOfDisk(sql: Queryable, diskId: string): Promise<string[]> {
  const rows = await sql<
    { id: string }[]
  >`select id from vms where id in (select vm_id from disk_attachments where disk_id = ${diskId})
    order by id for update`;
  return rows.map(({ id }) => id);
}

/**
 * Returns those of the disks that the VM's host cannot reach, because only another host stores
 * them or is to create them. For a VM that is not placed, the host that stores its OS disk counts.
 */
export async function listUnreachableDisks(
  sql: Queryable,
  { vmId, diskIds }: { vmId: string; diskIds: string[] },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from disks d left join hosts k on k.id = coalesce(d.host_id, d.home_id), lateral (
        select coalesce(p.host_id, o.host_id) as id from disk_attachments a join disks o on o.id = a.disk_id
        left join placements p on p.vm_id = a.vm_id where a.vm_id = ${vmId} and a.attachment_type = 'os') place
      left join hosts h on h.id = place.id
    where d.id = any(${diskIds}::uuid[]) and coalesce(d.host_id, d.home_id) <> place.id
      and not (coalesce(k.shared_storage, false) and coalesce(h.shared_storage, false))`;
  return rows.map(({ id }) => id);
}

/**
 * Locks the number of the host that stores the disk or is to create it, so that no other disk is added there until the
 * transaction ends. Returns null if no host does, or if its storage has no limit. Locks the numbers of the hosts of
 * the disk's VMs too, which a change of its size needs next.
 */
export async function lockStorageOfDisk(sql: Queryable, diskId: string): Promise<string | null> {
  const [keeper] = await sql<{ id: string }[]>`
    select h.id from disks d join hosts h on h.id = coalesce(d.host_id, d.home_id)
    where d.id = ${diskId} and d.type <> 'shared-volume' and h.storage_gib is not null`;
  if (!keeper) return null;
  await sql`select from host_revisions where host_id = any(array[${keeper.id}::uuid]
      || array(select p.host_id from placements p join disk_attachments a on a.vm_id = p.vm_id
        where a.disk_id = ${diskId}))
    order by host_id for update`;
  return keeper.id;
}

/** The caller has locked the number of the host. */
export async function isStorageExceeded(sql: Queryable, hostId: string): Promise<boolean> {
  const rows = await sql`select from hosts where id = ${hostId} and disks_gib(id) > storage_gib`;
  return rows.length > 0;
}

/**
 * Returns whether the VM's host has to create some of the disks and lacks the storage for them. The caller has attached
 * them, which has locked the number of the host.
 */
export async function lackStorage(
  sql: Queryable,
  { vmId, diskIds }: { vmId: string; diskIds: string[] },
): Promise<boolean> {
  const rows = await sql`select from placements p join hosts h on h.id = p.host_id
    where p.vm_id = ${vmId} and h.storage_gib is not null
      and exists (select from disks d where d.id = any(${diskIds}::uuid[]) and d.type <> 'shared-volume'
        and d.host_id is null and d.home_id = p.host_id)
      and disks_gib(h.id) > h.storage_gib`;
  return rows.length > 0;
}

export type NewDisk = {
  id: string;
  projectId: string;
  name: string;
  type: DiskType;
  size: string;
  sizeGib: number;
  location: string;
  blockSize: number;
  serialNumber: string;
  /** Whether a host stores it in any case, also if the location has a pool. */
  isLocal: boolean;
  at: Date;
};

/** The database chooses the storage pool, if the location has one for this type. Returns false if there is no such location. */
export async function insertDisk(sql: Queryable, disk: NewDisk): Promise<boolean> {
  const { count } = await sql`
    insert into disks
      (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number, created_at, updated_at,
        pool_id, wants_key)
    select ${disk.id}, ${disk.projectId}, 'data', ${disk.name}, ${disk.type}, ${disk.size}, ${disk.sizeGib}, name,
      ${disk.blockSize}, ${disk.serialNumber}, ${disk.at}, ${disk.at}, pool.id, pool.id is not null
    from locations, lateral (select case when not ${disk.isLocal} then choose_pool(name, ${disk.type}, ${disk.sizeGib}::int) end as id
      offset 0) pool
    where name = ${disk.location}`;
  return count > 0;
}

export async function updateDiskSize(
  sql: Queryable,
  change: { diskId: string; size: string; sizeGib: number },
): Promise<void> {
  await sql`update disks set size = ${change.size}, size_gib = ${change.sizeGib}, updated_at = now()
    where id = ${change.diskId}`;
}

export async function updateDiskTags(
  sql: Queryable,
  { diskId, tags }: { diskId: string; tags: Record<string, string> },
): Promise<void> {
  await replaceTags(sql, { table: 'disks', id: diskId, tags });
  await sql`update disks set updated_at = now() where id = ${diskId}`;
}

export async function updateDiskDeleted(sql: Queryable, diskId: string): Promise<void> {
  await sql`update disks set desired_state = 'deleted', updated_at = now() where id = ${diskId}`;
}

export async function countDisksOfVm(sql: Queryable, vmId: string): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from disk_attachments where vm_id = ${vmId}`;
  return row?.count ?? 0;
}

export type NewAttachment = {
  vmId: string;
  diskId: string;
  mode: AttachmentMode;
  exclusive: boolean;
};

/**
 * Locks the numbers of the VM's host and of the hosts that keep one of the disks and no longer have to grow it once the
 * VM has it. Each attachment would lock those of its own disk, and two of them in any order.
 */
export async function lockHostsToAttach(
  sql: Queryable,
  { vmId, diskIds }: { vmId: string; diskIds: string[] },
): Promise<void> {
  await sql`select from host_revisions where host_id = any(array(select host_id from placements where vm_id = ${vmId})
      || array(select hosts_growing(${diskIds}::uuid[])))
    order by host_id for update`;
}

export async function insertAttachment(sql: Queryable, attachment: NewAttachment): Promise<void> {
  const { vmId, diskId, mode, exclusive } = attachment;
  await sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
    values (${diskId}, ${vmId}, 'data', ${mode}, ${exclusive})`;
  await sql`update disks d set home_id = p.host_id from placements p
    where p.vm_id = ${vmId} and d.id = ${diskId} and d.host_id is null and d.home_id is null and d.pool_id is null`;
  await sql`select assign_volume_keys(array[${vmId}::uuid])`;
  await recordAttachmentChange(sql, attachment);
}

/** The row stays until the host has detached the disk. */
export async function updateAttachmentDetached(
  sql: Queryable,
  attachment: { vmId: string; diskId: string },
): Promise<void> {
  await sql`update disk_attachments set desired_state = 'detached'
    where vm_id = ${attachment.vmId} and disk_id = ${attachment.diskId}`;
  await recordAttachmentChange(sql, attachment);
}

/** An attachment changes both the VM and the disk. */
async function recordAttachmentChange(
  sql: Queryable,
  { vmId, diskId }: { vmId: string; diskId: string },
): Promise<void> {
  await sql`update vms set updated_at = now() where id = ${vmId}`;
  await sql`update disks set updated_at = now() where id = ${diskId}`;
}
