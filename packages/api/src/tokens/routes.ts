import { route } from '../http/route.ts';
import { grantTokens } from './grant.ts';
import { TokenReply, TokenRequest } from './schema.ts';

export const authRoutes = [
  route({
    id: 'tokens.grant',
    method: 'post',
    path: '/auth/token',
    summary: 'Exchange e-mail and password, or a refresh token, for tokens',
    access: { level: 'public' },
    body: TokenRequest,
    reply: TokenReply,
    handle: ({ deps, body, sourceIp }) => grantTokens({ deps, request: body, sourceIp }),
  }),
];
