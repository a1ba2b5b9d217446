import type { AuditLogRow } from '@gantry/db/queries/operations/audit-logs';

export function auditLogView(row: AuditLogRow) {
  return {
    id: row.id,
    at: row.at.toISOString(),
    organization_id: row.organization_id ?? '',
    project_id: row.project_id ?? '',
    actor_type: row.actor_type,
    actor_id: row.actor_id ?? '',
    actor: row.actor,
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    source_ip: row.source_ip,
    user_agent: row.user_agent,
    attempts: row.attempts,
    request_id: row.request_id,
    status: row.status,
  };
}
