import { listAllOrganizations } from '@gantry/db/queries/organizations';
import { z } from '@hono/zod-openapi';
import { Paging, page } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { AdminOrganizations } from './schema.ts';

export const adminOrganizationRoutes = [
  route({
    id: 'admin-organizations.list',
    method: 'get',
    path: '/admin/organizations',
    summary: 'Every organization, oldest first, and whether it has a payment method',
    access: { level: 'operator' },
    query: z.strictObject(Paging),
    reply: AdminOrganizations,
    handle: async ({ sql, query: { limit, page_token } }) =>
      page(
        await listAllOrganizations(sql, { after: page_token, limit: limit + 1 }),
        limit,
        (row) => row,
      ),
  }),
];
