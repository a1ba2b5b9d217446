import type { Queryable } from '../../connect.ts';
import { LAST_ID } from '../page-bounds.ts';

export type AuditLogRow = {
  id: string;
  at: Date;
  organization_id: string | null;
  project_id: string | null;
  actor_type: string;
  actor_id: string | null;
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  source_ip: string;
  user_agent: string;
  attempts: number;
  request_id: string;
  status: number;
};

export type AuditLogFilter = {
  /** Undefined means the whole installation. */
  organizationId: string | undefined;
  /** The visible projects; undefined means all, and lines without a project. */
  visibleProjects: string[] | undefined;
  projectId: string | null;
  action: string | null;
  /** The last id of the previous page. Lists have the newest first. */
  before: string | null;
  limit: number;
};

export async function listAuditLogs(
  sql: Queryable,
  { organizationId, visibleProjects, projectId, action, before, limit }: AuditLogFilter,
): Promise<AuditLogRow[]> {
  // Each scope is part of the statement only if it applies, so that each variant uses its index.
  const organization =
    organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}`;
  const visible =
    visibleProjects === undefined ? sql`true` : sql`project_id = any(${visibleProjects}::uuid[])`;
  return await sql<AuditLogRow[]>`
    select id, at, organization_id, project_id, actor_type, actor_id, actor, action, resource_type,
      resource_id, source_ip, user_agent, attempts, request_id, status
    from audit_logs
    where ${organization} and ${visible}
      and (${projectId}::uuid is null or project_id = ${projectId})
      and (${action}::text is null or action = ${action})
      and id < ${before ?? LAST_ID}
    order by id desc limit ${limit}`;
}
