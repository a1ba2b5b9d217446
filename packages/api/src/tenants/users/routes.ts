import { listUsers, readUser } from '@gantry/db/queries/tenants/users';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { ListQuery, page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import {
  changeUser,
  createUser,
  deleteUser,
  inviteUser,
  logOutUser,
  removeUserTotp,
} from './change.ts';
import {
  ChangeUser,
  CreateUser,
  Invitation,
  InviteUser,
  User,
  UserPage,
  UserParams,
} from './schema.ts';
import { userView } from './view.ts';

export const adminUserRoutes = [
  route({
    id: 'admin-users.list',
    method: 'get',
    path: '/admin/users',
    summary: 'List every user, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: z.strictObject(ListQuery),
    reply: UserPage,
    handle: async ({ sql, query }) =>
      page(await listUsers(sql, toIdListing(query)), query.limit, userView),
  }),
  route({
    id: 'admin-users.get',
    method: 'get',
    path: '/admin/users/{user_id}',
    summary: 'Read a user',
    access: { level: 'operator', role: 'read-only' },
    params: UserParams,
    reply: User,
    handle: async ({ sql, params }) => userView(found(await readUser(sql, params.user_id), 'user')),
  }),
  route({
    id: 'admin-users.create',
    method: 'post',
    path: '/admin/users',
    summary: 'Create a user',
    access: { level: 'operator', role: 'support' },
    body: CreateUser,
    reply: User,
    handle: async ({ sql, caller, body, now }) =>
      userView(await createUser({ sql, caller, body, now })),
  }),
  route({
    id: 'admin-users.change',
    method: 'patch',
    path: '/admin/users/{user_id}',
    summary: "Change a user's password, or the user's rights as an operator",
    access: { level: 'operator', role: 'admin' },
    changesAccess: true,
    params: UserParams,
    body: ChangeUser,
    reply: User,
    handle: async ({ sql, caller, params, body }) =>
      userView(await changeUser({ sql, caller, userId: params.user_id, body })),
  }),
  route({
    id: 'admin-users.log-out',
    method: 'post',
    path: '/admin/users/{user_id}:log-out',
    summary: 'End every login and every token of a user',
    access: { level: 'operator', role: 'support' },
    changesAccess: true,
    params: UserParams,
    reply: User,
    handle: async ({ sql, caller, params }) =>
      userView(await logOutUser({ sql, caller, userId: params.user_id })),
  }),
  route({
    id: 'admin-users.invite',
    method: 'post',
    path: '/admin/users/{user_id}:invite',
    summary: 'Create a link with which a user chooses a password; only this reply shows it',
    access: { level: 'operator', role: 'support' },
    secretReply: true,
    params: UserParams,
    body: InviteUser,
    reply: Invitation,
    handle: ({ deps, sql, caller, params, body, now }) =>
      inviteUser({
        ...{ sql, caller, userId: params.user_id, now },
        ...{ baseUrl: deps.baseUrl(), hours: body.expires_in_hours },
      }),
  }),
  route({
    id: 'admin-users.remove-totp',
    method: 'post',
    path: '/admin/users/{user_id}:remove-totp',
    summary: 'Remove the second factor of a user who has lost it',
    access: { level: 'operator', role: 'support' },
    params: UserParams,
    reply: User,
    handle: async ({ sql, caller, params }) =>
      userView(await removeUserTotp({ sql, caller, userId: params.user_id })),
  }),
  route({
    id: 'admin-users.delete',
    method: 'delete',
    path: '/admin/users/{user_id}',
    summary: 'Delete a user, whose tokens stop working at once',
    access: { level: 'operator', role: 'admin' },
    changesAccess: true,
    params: UserParams,
    reply: User,
    handle: async ({ sql, caller, params }) =>
      userView(await deleteUser({ sql, caller, userId: params.user_id })),
  }),
];
