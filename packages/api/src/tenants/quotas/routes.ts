import { listQuotas } from '@gantry/db/queries/quotas';
import { ProjectParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { Quotas } from './schema.ts';
import { quotaView } from './view.ts';

export const quotaRoutes = [
  route({
    id: 'quotas.list',
    method: 'get',
    path: '/projects/{project_id}/quotas',
    summary: 'What the project may have, and has',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Quotas,
    handle: async ({ sql, scope }) => ({
      quotas: (await listQuotas(sql, scope.projectId)).map(quotaView),
    }),
  }),
];
