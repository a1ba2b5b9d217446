import { listAllProjects } from '@gantry/db/queries/projects';
import { z } from '@hono/zod-openapi';
import { Paging, page } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { ProjectPage } from './schema.ts';

export const adminProjectRoutes = [
  route({
    id: 'admin-projects.list',
    method: 'get',
    path: '/admin/projects',
    summary: 'Every project, oldest first',
    access: { level: 'operator' },
    query: z.strictObject(Paging),
    reply: ProjectPage,
    handle: async ({ sql, query: { limit, page_token } }) =>
      page(
        await listAllProjects(sql, { after: page_token, limit: limit + 1 }),
        limit,
        (row) => row,
      ),
  }),
];
