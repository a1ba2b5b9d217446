import type { Queryable } from '../../connect.ts';
import { beyond, direction, type PageBounds } from '../page-bounds.ts';
import { type DiskRow, selectDisk } from '../vms/disks.ts';
import { pageOfAll, projectsInScope, type TenantScope } from './page-of-all.ts';

export type DiskOfTenant = DiskRow & {
  project_id: string;
  organization_id: string;
  host_id: string | null;
};

export type AllDisksFilter = TenantScope &
  PageBounds & {
    hostId: string | null;
    ids: string[] | null;
    names: string[] | null;
    types: string[] | null;
    locations: string[] | null;
    states: string[] | null;
    limit: number;
  };

/** Lists disks of all tenants, OS disks included, oldest first unless the filter says otherwise. */
export async function listAllDisks(
  sql: Queryable,
  filter: AllDisksFilter,
): Promise<DiskOfTenant[]> {
  const { hostId, ids, names, types, locations, states, limit } = filter;
  const projectIds = await projectsInScope(sql, filter);
  const newestFirst = filter.newestFirst === true;
  const where = sql`r.id ${beyond(sql, filter)}
    ${hostId === null ? sql`` : sql`and r.host_id = ${hostId}`}
    ${ids === null ? sql`` : sql`and r.id = any(${ids}::uuid[])`}
    ${names === null ? sql`` : sql`and r.name = any(${names}::text[])`}
    ${types === null ? sql`` : sql`and r.type = any(${types}::text[])`}
    ${locations === null ? sql`` : sql`and r.location = any(${locations}::text[])`}`;
  return await sql<DiskOfTenant[]>`
    select w.*, s.project_id, s.host_id, q.organization_id
    from (${selectDisk(sql)} where d.id = any(array(${pageOfAll(sql, { table: 'disks', projectIds, states, where, newestFirst, limit })}))) w
      join disks s on s.id = w.id join projects q on q.id = s.project_id
    order by w.id ${direction(sql, filter)}`;
}
