import { listSigningKeys } from '@gantry/db/queries/tenants/tokens';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { toErrorReply } from '../http/http-errors.ts';
import { route } from '../http/route.ts';
import { grantTokens } from './grant.ts';
import { SigningKey, SigningKeyParams, SigningKeys, TokenReply, TokenRequest } from './schema.ts';
import { signingKeyView, withdrawSigningKey } from './signing-keys.ts';

export const tokenRoutes = [
  route({
    id: 'tokens.grant',
    method: 'post',
    path: '/auth/token',
    summary: 'Exchange an e-mail and a password, or a refresh token, for new tokens',
    access: { level: 'public' },
    body: TokenRequest,
    reply: TokenReply,
    handle: ({ deps, body, sourceIp, userAgent, requestId, now }) =>
      grantTokens({
        ...{ deps, request: body, sourceIp, userAgent, requestId, now },
        statusOf: (error) => {
          const { status, fault } = toErrorReply(error, requestId);
          return fault === undefined ? status : undefined;
        },
      }),
  }),
  route({
    id: 'admin-signing-keys.create',
    method: 'post',
    path: '/admin/signing-keys',
    summary:
      'Create a new signing key for access tokens; tokens of the old key stay valid until they ' +
      'expire',
    access: { level: 'operator', role: 'admin' },
    reply: z.object({}),
    changesAccess: true,
    handle: async ({ deps, sql }) => {
      await deps.tokens.insertKey(sql);
      return {};
    },
  }),
  route({
    id: 'admin-signing-keys.list',
    method: 'get',
    path: '/admin/signing-keys',
    summary: 'List the signing keys, newest first; the first one signs',
    access: { level: 'operator', role: 'read-only' },
    reply: SigningKeys,
    handle: async ({ sql }) => ({ items: (await listSigningKeys(sql)).map(signingKeyView) }),
  }),
  route({
    id: 'admin-signing-keys.get',
    method: 'get',
    path: '/admin/signing-keys/{signing_key_id}',
    summary: 'Read when a signing key was created',
    access: { level: 'operator', role: 'read-only' },
    params: SigningKeyParams,
    reply: SigningKey,
    handle: async ({ sql, params: { signing_key_id } }) => {
      const keys = await listSigningKeys(sql);
      return signingKeyView(
        found(
          keys.find(({ id }) => id === signing_key_id),
          'signing key',
        ),
      );
    },
  }),
  route({
    id: 'admin-signing-keys.delete',
    method: 'delete',
    path: '/admin/signing-keys/{signing_key_id}',
    summary: 'Withdraw a signing key; all tokens that it signed end',
    access: { level: 'operator', role: 'admin' },
    changesAccess: true,
    params: SigningKeyParams,
    reply: SigningKey,
    handle: async ({ deps, sql, params }) =>
      signingKeyView(await withdrawSigningKey(deps, sql, params.signing_key_id)),
  }),
];
