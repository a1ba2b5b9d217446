import { z } from '@hono/zod-openapi';
import { route } from '../http/route.ts';
import { grantTokens } from './grant.ts';
import { TokenReply, TokenRequest } from './schema.ts';

export const tokenRoutes = [
  route({
    id: 'tokens.grant',
    method: 'post',
    path: '/auth/token',
    summary: 'Exchange an e-mail and a password, or a refresh token, for new tokens',
    access: { level: 'public' },
    body: TokenRequest,
    reply: TokenReply,
    handle: ({ deps, body, sourceIp }) => grantTokens({ deps, request: body, sourceIp }),
  }),
  route({
    id: 'admin-signing-keys.create',
    method: 'post',
    path: '/admin/signing-keys',
    summary:
      'Create a new signing key for access tokens; tokens of the old key stay valid until they ' +
      'expire',
    access: { level: 'operator' },
    reply: z.object({}),
    changesAccess: true,
    handle: async ({ deps, sql }) => {
      await deps.tokens.insertKey(sql);
      return {};
    },
  }),
];
