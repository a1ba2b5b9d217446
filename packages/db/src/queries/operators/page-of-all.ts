import type postgres from 'postgres';
import type { Queryable } from '../../connect.ts';
import { direction } from '../page-bounds.ts';

/** Lists across all tenants. Each filter is part of a statement only if it applies. */

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Whose resources are listed; all of them if both are null. */
export type TenantScope = { organizationId: string | null; projectId: string | null };

/** Returns the projects to look in; null means all of them. */
export async function projectsInScope(
  sql: Queryable,
  { organizationId, projectId }: TenantScope,
): Promise<string[] | null> {
  if (organizationId === null) return projectId === null ? null : [projectId];
  const rows = await sql<{ id: string }[]>`select id from projects
    where organization_id = ${organizationId} ${projectId === null ? sql`` : sql`and id = ${projectId}`}`;
  return rows.map(({ id }) => id);
}

type PageOfAll = {
  table: 'vms' | 'disks' | 'operations';
  /** Lists with which each project, state or type of resource is looked up by itself; null: it does not matter. */
  projectIds: string[] | null;
  states: readonly string[] | null;
  resourceTypes?: readonly string[] | null;
  /** Further conditions about the table, which is named `r`. */
  where: Fragment;
  newestFirst?: boolean;
  limit: number;
};

/**
 * Selects the ids of one page. A page of each project, state and resource type is read from the index that begins with
 * them, so that rare ones are found without reading the others. With "=" for the state, the planner would assume that
 * the state is a common one.
 */
export function pageOfAll(sql: Queryable, page: PageOfAll): Fragment {
  const { projectIds, states, resourceTypes = null, limit } = page;
  const order = direction(sql, page);
  const byState = states === null ? sql`` : sql`r.state ${order},`;
  return sql`select id from (select 1) as once
    ${projectIds === null ? sql`` : sql`cross join unnest(${projectIds}::uuid[]) p (project_id)`}
    ${states === null ? sql`` : sql`cross join unnest(${[...states]}::text[]) s (state)`}
    ${resourceTypes === null ? sql`` : sql`cross join unnest(${[...resourceTypes]}::text[]) t (resource_type)`}
    cross join lateral (select r.id from ${sql(page.table)} r where ${page.where}
      ${projectIds === null ? sql`` : sql`and r.project_id = p.project_id`}
      ${states === null ? sql`` : sql`and r.state between s.state and s.state`}
      ${resourceTypes === null ? sql`` : sql`and r.resource_type = t.resource_type`}
      order by ${byState} r.id ${order} limit ${limit}) pages
    order by id ${order} limit ${limit}`;
}
