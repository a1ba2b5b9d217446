import { listJoinTokens } from '@gantry/db/queries/hosts/join-tokens';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { ListQuery, NewestSort, page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { createJoinToken, deleteJoinToken } from './change.ts';
import {
  CreateJoinToken,
  JoinToken,
  JoinTokenPage,
  JoinTokenParams,
  NewJoinToken,
} from './schema.ts';
import { joinTokenView, newJoinTokenView } from './view.ts';

export const adminJoinTokenRoutes = [
  route({
    id: 'admin-join-tokens.list',
    method: 'get',
    path: '/admin/join-tokens',
    summary: 'List join tokens without their secrets, newest first',
    access: { level: 'operator', role: 'read-only' },
    query: z.strictObject({ ...ListQuery, sort: NewestSort }),
    reply: JoinTokenPage,
    handle: async ({ sql, query }) =>
      page(await listJoinTokens(sql, toIdListing(query)), query.limit, joinTokenView),
  }),
  route({
    id: 'admin-join-tokens.get',
    method: 'get',
    path: '/admin/join-tokens/{join_token_id}',
    summary: 'Read a join token without its secret',
    access: { level: 'operator', role: 'read-only' },
    params: JoinTokenParams,
    reply: JoinToken,
    handle: async ({ sql, params }) => {
      const only = { ids: [params.join_token_id], after: null, limit: 1 };
      return joinTokenView(found((await listJoinTokens(sql, only))[0], 'join token'));
    },
  }),
  route({
    id: 'admin-join-tokens.create',
    method: 'post',
    path: '/admin/join-tokens',
    summary: 'Create a token with which one host can join a location; only this reply shows it',
    access: { level: 'operator', role: 'admin' },
    secretReply: true,
    body: CreateJoinToken,
    reply: NewJoinToken,
    handle: async ({ sql, deps, caller, body, now }) =>
      newJoinTokenView(await createJoinToken({ sql, caller, body, now }), deps),
  }),
  route({
    id: 'admin-join-tokens.delete',
    method: 'delete',
    path: '/admin/join-tokens/{join_token_id}',
    summary: 'Revoke a join token that no host has used',
    access: { level: 'operator', role: 'admin' },
    params: JoinTokenParams,
    reply: JoinToken,
    handle: async ({ sql, params }) =>
      joinTokenView(await deleteJoinToken(sql, params.join_token_id)),
  }),
];
