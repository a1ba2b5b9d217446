import { z } from '@hono/zod-openapi';
import { route } from '../http/route.ts';

export const adminSigningKeyRoutes = [
  route({
    id: 'admin-signing-keys.create',
    method: 'post',
    path: '/admin/signing-keys',
    summary: 'Sign access tokens with a new key from now on; the old one verifies what it signed',
    access: { level: 'operator' },
    reply: z.object({}),
    changesAccess: true,
    handle: async ({ deps, sql }) => {
      await deps.tokens.insertKey(sql);
      return {};
    },
  }),
];
