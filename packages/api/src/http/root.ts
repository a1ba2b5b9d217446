import type { UserGrant } from '@gantry/db/queries/tenants/access';
import { z } from '@hono/zod-openapi';
import { ReplyIdOrEmpty } from './fields.ts';
import { route } from './route.ts';

const Root = z
  .object({
    name: z.string(),
    version: z.string(),
    project_id: ReplyIdOrEmpty.openapi({
      description: 'The project of an access key; empty for an access token.',
    }),
    user: z
      .object({
        id: ReplyIdOrEmpty,
        email: z.string(),
        operator: z.boolean(),
        operator_role: z.string(),
      })
      .openapi({
        description: 'The user of an access token; its members are empty for an access key.',
      }),
    links: z.record(z.string(), z.string()),
  })
  .openapi('Root');

const LINKS = {
  documentation: '/docs',
  openapi: '/v0.1/openapi.json',
  organizations: '/v0.1/organizations',
  projects: '/v0.1/projects',
  locations: '/v0.1/locations',
};

function ownUserView({ id, email, operator, operator_role }: UserGrant) {
  return { id, email, operator, operator_role: operator ? operator_role : '' };
}

export const rootRoutes = [
  route({
    id: 'root.get',
    method: 'get',
    path: '',
    summary: 'Show who the caller is, and links to the rest of the API',
    access: { level: 'authenticated' },
    unpaid: true,
    reply: Root,
    handle: async ({ caller }) => ({
      name: 'Gantry',
      version: 'v0.1',
      project_id: caller.type === 'access_key' ? caller.grant.project_id : '',
      user:
        caller.type === 'user'
          ? ownUserView(caller.grant)
          : { id: '', email: '', operator: false, operator_role: '' },
      links: LINKS,
    }),
  }),
];
