import type { Queryable } from '../../connect.ts';

/** Where a disk is stored or is to be created; null if no host was chosen yet. */
export type DiskPlace = { id: string; host_id: string | null; shared_storage: boolean };

export async function listDiskPlaces(
  sql: Queryable,
  diskIds: readonly string[],
): Promise<DiskPlace[]> {
  return await sql<DiskPlace[]>`
    select d.id, coalesce(d.host_id, d.home_id) as host_id, coalesce(h.shared_storage, false) as shared_storage
    from disks d left join hosts h on h.id = coalesce(d.host_id, d.home_id)
    where d.id = any(${[...diskIds]}::uuid[])`;
}

/** Returns those of the names that data disks of the project have. */
export async function listTakenDiskNames(
  sql: Queryable,
  { projectId, names }: { projectId: string; names: readonly string[] },
): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from disks
    where project_id = ${projectId} and kind = 'data' and name = any(${[...names]}::text[])`;
  return rows.map(({ name }) => name);
}

/**
 * Records that a disk was inserted together with a VM: it is removed again if the VM cannot be created. It exists at
 * once, as every disk that no host has to create yet, unless a storage cluster stores it. Returns whether it exists.
 */
export async function updateDiskCreatedWith(
  sql: Queryable,
  { diskId, vmId }: { diskId: string; vmId: string },
): Promise<boolean> {
  const [row] = await sql<{ exists: boolean }[]>`
    update disks set created_with = ${vmId}, observed_size_gib = case when pool_id is null then size_gib end
    where id = ${diskId} returning pool_id is null as exists`;
  return row?.exists ?? false;
}

export async function readRegion(sql: Queryable, location: string): Promise<string> {
  const [row] = await sql<
    { region: string }[]
  >`select region from locations where name = ${location}`;
  return row?.region ?? '';
}
