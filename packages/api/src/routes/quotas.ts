import { listQuotas } from '@gantry/db/queries/quotas';
import { route } from '../http/route.ts';
import { ProjectParams } from '../schemas/fields.ts';
import { Quotas } from '../schemas/quota.ts';
import { quotaView } from '../views/quota.ts';

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
