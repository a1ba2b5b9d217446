import { listAuditLogs } from '@gantry/db/queries/audit-logs';
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
    summary: 'Who did what to what, from where, with which result; newest first',
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
];
