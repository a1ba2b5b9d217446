import { listQuotas } from '@gantry/db/queries/tenants/quotas';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { changeQuotas } from './change.ts';
import { ChangeQuotas, Quotas } from './schema.ts';
import { quotaView } from './view.ts';

export const quotaRoutes = [
  route({
    id: 'quotas.list',
    method: 'get',
    path: '/projects/{project_id}/quotas',
    summary: 'List the quotas of a project and how much of each is used',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Quotas,
    handle: async ({ sql, scope }) => ({
      quotas: (await listQuotas(sql, scope.projectId)).map(quotaView),
    }),
  }),
  route({
    id: 'admin-quotas.list',
    method: 'get',
    path: '/admin/projects/{project_id}/quotas',
    summary: 'List the quotas of any project and how much of each is used',
    access: { level: 'operator' },
    params: ProjectParams,
    reply: Quotas,
    handle: async ({ sql, params }) => {
      const rows = await listQuotas(sql, params.project_id);
      if (rows.length === 0) throw notFound('project');
      return { quotas: rows.map(quotaView) };
    },
  }),
  route({
    id: 'admin-quotas.set',
    method: 'put',
    path: '/admin/projects/{project_id}/quotas',
    summary: 'Set quotas of a project; types that are absent keep their maximum',
    access: { level: 'operator' },
    params: ProjectParams,
    body: ChangeQuotas,
    reply: Quotas,
    handle: async ({ sql, params, body }) => {
      const rows = await changeQuotas(sql, { projectId: params.project_id, max: body });
      return { quotas: rows.map(quotaView) };
    },
  }),
];
