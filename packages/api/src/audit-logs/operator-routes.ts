import { listAuditLogs } from '@gantry/db/queries/audit-logs';
import { page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { AuditLogPage, AuditLogQuery } from './schema.ts';
import { auditLogView } from './view.ts';

export const adminAuditLogRoutes = [
  route({
    id: 'admin-audit-logs.list',
    method: 'get',
    path: '/admin/audit-logs',
    summary: 'The audit log of the whole installation, newest first',
    access: { level: 'operator' },
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
