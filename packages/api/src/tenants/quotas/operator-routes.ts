import { listQuotas } from '@gantry/db/queries/quotas';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { changeQuotas } from './change.ts';
import { ChangeQuotas, Quotas } from './schema.ts';
import { quotaView } from './view.ts';

export const adminQuotaRoutes = [
  route({
    id: 'admin-quotas.list',
    method: 'get',
    path: '/admin/projects/{project_id}/quotas',
    summary: 'What a project may have, and has',
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
    summary: 'Set what a project may have; types that are not named keep their maximum',
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
