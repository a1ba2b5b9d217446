import {
  ORGANIZATION_QUOTA_TYPES,
  type OrganizationQuotaType,
  QUOTA_TYPES,
  type QuotaType,
} from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

export type QuotaRow = { type: QuotaType; max: number; used: number };

/** Lists quotas in the order of QUOTA_TYPES; none if the project does not exist. */
export async function listQuotas(sql: Queryable, projectId: string): Promise<QuotaRow[]> {
  return await sql<QuotaRow[]>`
    select type, max::float8 as max, used::float8 as used from quotas
    where project_id = ${projectId} order by array_position(${[...QUOTA_TYPES]}::text[], type)`;
}

/** Existing resources stay, even if they exceed the new maximum. */
export async function updateQuota(
  sql: Queryable,
  { projectId, type, max }: { projectId: string; type: QuotaType; max: number },
): Promise<void> {
  await sql`update quotas set max = ${max} where project_id = ${projectId} and type = ${type}`;
}

export type OrganizationQuotaRow = { type: OrganizationQuotaType; max: number; used: number };

/**
 * Lists what the projects of the organization may use together, in the order of
 * ORGANIZATION_QUOTA_TYPES; none if the organization does not exist.
 */
export async function listOrganizationQuotas(
  sql: Queryable,
  organizationId: string,
): Promise<OrganizationQuotaRow[]> {
  return await sql<OrganizationQuotaRow[]>`
    select o.type, o.max::float8 as max, (case when o.type = 'projects'
        then (select count(*) from projects p where p.organization_id = o.organization_id)
        else (select coalesce(sum(q.used), 0) from projects p
          join quotas q on q.project_id = p.id and q.type = o.type
          where p.organization_id = o.organization_id) end)::float8 as used
    from organization_quotas o where o.organization_id = ${organizationId}
    order by array_position(${[...ORGANIZATION_QUOTA_TYPES]}::text[], o.type)`;
}

/** Existing resources stay, even if they exceed the new maximum. */
export async function updateOrganizationQuota(
  sql: Queryable,
  quota: { organizationId: string; type: OrganizationQuotaType; max: number },
): Promise<void> {
  await sql`update organization_quotas set max = ${quota.max}
    where organization_id = ${quota.organizationId} and type = ${quota.type}`;
}
