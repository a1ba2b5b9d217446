import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';
import type { ProjectRow } from './tenants.ts';

const columns = (sql: Queryable) => sql`id, name, version, organization_id`;

/** Lists these projects and all projects of these organizations. */
export async function listProjects(
  sql: Queryable,
  { projectIds, organizationIds }: { projectIds: string[]; organizationIds: string[] },
): Promise<ProjectRow[]> {
  return await sql<ProjectRow[]>`
    select ${columns(sql)} from projects
    where id = any(${projectIds}::uuid[]) or organization_id = any(${organizationIds}::uuid[])
    order by id`;
}

/** Lists all projects, for operators. */
export async function listAllProjects(sql: Queryable, listing: IdListing): Promise<ProjectRow[]> {
  return await sql<ProjectRow[]>`
    select ${columns(sql)} from projects
    where ${listedByIds(sql, listing)} ${idOrder(sql, listing)}`;
}

export async function readProject(
  sql: Queryable,
  projectId: string,
): Promise<ProjectRow | undefined> {
  const [row] = await sql<
    ProjectRow[]
  >`select ${columns(sql)} from projects where id = ${projectId}`;
  return row;
}

export async function updateProjectName(
  sql: Queryable,
  { projectId, name }: { projectId: string; name: string },
): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    update projects set name = ${name} where id = ${projectId} returning ${columns(sql)}`;
  return row;
}

/** Returns whether the project has VMs, disks, snapshots, backups, images or public addresses, including those that are being deleted. */
export async function hasResources(sql: Queryable, projectId: string): Promise<boolean> {
  const [row] = await sql<{ held: boolean }[]>`
    select exists (select from vms where project_id = ${projectId})
      or exists (select from disks where project_id = ${projectId})
      or exists (select from snapshots where project_id = ${projectId})
      or exists (select from backups where project_id = ${projectId})
      or exists (select from custom_images where project_id = ${projectId})
      or exists (select from reserved_addresses where project_id = ${projectId}) as held`;
  return row?.held ?? false;
}

/** Removes everything of the project. Fails if it has a VM, a disk, a snapshot, a backup, an image or a public address. */
export async function removeProject(
  sql: Queryable,
  projectId: string,
): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    delete from projects where id = ${projectId} returning ${columns(sql)}`;
  return row;
}
