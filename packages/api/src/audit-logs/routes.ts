import { listAuditLogs } from '@gantry/db/queries/operations/audit-logs';
import { visibleProjects } from '../auth/authorize.ts';
import { OrganizationParams, page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { AuditLogPage, AuditLogQuery } from './schema.ts';
import { auditLogView } from './view.ts';

export const auditLogRoutes = [
  route({
    id: 'audit-logs.list',
    method: 'get',
    path: '/organizations/{organization_id}/audit-logs',
    summary: 'List who did what to which resource, from where and with which status; newest first',
    access: { level: 'organization', role: 'read-only' },
    params: OrganizationParams,
    query: AuditLogQuery,
    reply: AuditLogPage,
    handle: async ({ sql, caller, scope: { organizationId }, query }) => {
      const rows = await listAuditLogs(sql, {
        organizationId,
        visibleProjects: visibleProjects(caller, organizationId),
        projectId: query.project_id ?? null,
        action: query.action ?? null,
        before: query.page_token,
        limit: query.limit + 1,
      });
      return page(rows, query.limit, auditLogView);
    },
  }),
  route({
    id: 'admin-audit-logs.list',
    method: 'get',
    path: '/admin/audit-logs',
    summary: 'List the audit log of the whole installation, newest first',
    access: { level: 'operator', role: 'read-only' },
    query: AuditLogQuery,
    reply: AuditLogPage,
    handle: async ({ sql, query }) => {
      const rows = await listAuditLogs(sql, {
        organizationId: undefined,
        visibleProjects: undefined,
        projectId: query.project_id ?? null,
        action: query.action ?? null,
        before: query.page_token,
        limit: query.limit + 1,
      });
      return page(rows, query.limit, auditLogView);
    },
  }),
];
