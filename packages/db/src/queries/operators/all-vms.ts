import type { Queryable } from '../../connect.ts';
import { beyond, direction, type PageBounds } from '../page-bounds.ts';
import { selectVms, type VmRow } from '../vms/vms.ts';
import { pageOfAll, projectsInScope, type TenantScope } from './page-of-all.ts';

export type VmOfTenant = VmRow & { organization_id: string; host_id: string | null };

export type AllVmsFilter = TenantScope &
  PageBounds & {
    hostId: string | null;
    ids: string[] | null;
    names: string[] | null;
    types: string[] | null;
    locations: string[] | null;
    states: string[] | null;
    /** Each element is one tag; a VM must have all of them. */
    tags: Record<string, string>[];
    limit: number;
  };

/** Lists VMs of all tenants, oldest first unless the filter says otherwise. */
export async function listAllVms(sql: Queryable, filter: AllVmsFilter): Promise<VmOfTenant[]> {
  const { hostId, ids, names, types, locations, states, tags, limit } = filter;
  const projectIds = await projectsInScope(sql, filter);
  const newestFirst = filter.newestFirst === true;
  const where = sql`r.id ${beyond(sql, filter)}
    ${hostId === null ? sql`` : sql`and r.id = any(array(select vm_id from placements where host_id = ${hostId}))`}
    ${ids === null ? sql`` : sql`and r.id = any(${ids}::uuid[])`}
    ${names === null ? sql`` : sql`and r.name = any(${names}::text[])`}
    ${types === null ? sql`` : sql`and r.type = any(${types}::text[])`}
    ${locations === null ? sql`` : sql`and r.location = any(${locations}::text[])`}
    ${tags.length === 0 ? sql`` : tags.map((tag) => sql`and r.tags @> ${JSON.stringify(tag)}::text::jsonb`)}`;
  const page = pageOfAll(sql, { table: 'vms', projectIds, states, where, newestFirst, limit });
  return await sql<VmOfTenant[]>`
    select w.*, q.organization_id, p.host_id
    from (${selectVms(sql, page)}) w
      join projects q on q.id = w.project_id left join placements p on p.vm_id = w.id
    order by w.id ${direction(sql, filter)}`;
}
