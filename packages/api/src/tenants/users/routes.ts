import { listUsers } from '@gantry/db/queries/tenants/users';
import { z } from '@hono/zod-openapi';
import { Paging, page } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { changeUser, createUser, deleteUser } from './change.ts';
import { ChangeUser, CreateUser, User, UserPage, UserParams } from './schema.ts';
import { userView } from './view.ts';

export const adminUserRoutes = [
  route({
    id: 'admin-users.list',
    method: 'get',
    path: '/admin/users',
    summary: 'List every user, oldest first',
    access: { level: 'operator' },
    query: z.strictObject(Paging),
    reply: UserPage,
    handle: async ({ sql, query: { limit, page_token } }) =>
      page(await listUsers(sql, { after: page_token, limit: limit + 1 }), limit, userView),
  }),
  route({
    id: 'admin-users.create',
    method: 'post',
    path: '/admin/users',
    summary: 'Create a user',
    access: { level: 'operator' },
    body: CreateUser,
    reply: User,
    handle: async ({ sql, body, now }) => userView(await createUser({ sql, body, now })),
  }),
  route({
    id: 'admin-users.change',
    method: 'patch',
    path: '/admin/users/{user_id}',
    summary: "Change a user's password, or whether the user is an operator",
    access: { level: 'operator' },
    changesAccess: true,
    params: UserParams,
    body: ChangeUser,
    reply: User,
    handle: async ({ sql, caller, params, body }) =>
      userView(await changeUser({ sql, caller, userId: params.user_id, body })),
  }),
  route({
    id: 'admin-users.delete',
    method: 'delete',
    path: '/admin/users/{user_id}',
    summary: 'Delete a user, whose tokens stop working at once',
    access: { level: 'operator' },
    changesAccess: true,
    params: UserParams,
    reply: User,
    handle: async ({ sql, caller, params }) =>
      userView(await deleteUser({ sql, caller, userId: params.user_id })),
  }),
];
