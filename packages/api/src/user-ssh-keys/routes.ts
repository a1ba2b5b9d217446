import { listUserSshKeys, readUserSshKey } from '@gantry/db/queries/tenants/user-ssh-keys';
import { notFound } from '@gantry/model/errors';
import { requireUser } from '../account/own-user.ts';
import { namedPage, toPageBounds } from '../http/lists/named-page.ts';
import { route } from '../http/route.ts';
import { userSshKeyView } from '../ssh-keys/view.ts';
import { createUserSshKey, deleteUserSshKey } from './change.ts';
import {
  CreateUserSshKey,
  UserSshKey,
  UserSshKeyPage,
  UserSshKeyParams,
  UserSshKeyQuery,
} from './schema.ts';

/** The keys of the user who sends the request. They belong to no project, and need no payment method. */
const OWN = { access: { level: 'authenticated' }, unpaid: true } as const;

export const userSshKeyRoutes = [
  route({
    ...OWN,
    id: 'user-ssh-keys.create',
    method: 'post',
    path: '/auth/ssh-keys',
    summary: 'Store an SSH public key of yours under a name',
    body: CreateUserSshKey,
    reply: UserSshKey,
    handle: async ({ sql, caller, body, now }) =>
      userSshKeyView(await createUserSshKey({ sql, userId: requireUser(caller).id, body, now })),
  }),
  route({
    ...OWN,
    id: 'user-ssh-keys.list',
    method: 'get',
    path: '/auth/ssh-keys',
    summary: 'List your SSH keys, oldest first',
    query: UserSshKeyQuery,
    reply: UserSshKeyPage,
    handle: async ({ sql, caller, query }) => {
      const { ids, names, limit } = query;
      const filter = { userId: requireUser(caller).id, ids, names, limit: limit + 1 };
      const rows = await listUserSshKeys(sql, { ...filter, ...toPageBounds(query) });
      return namedPage(rows, query, userSshKeyView);
    },
  }),
  route({
    ...OWN,
    id: 'user-ssh-keys.get',
    method: 'get',
    path: '/auth/ssh-keys/{user_ssh_key_id}',
    summary: 'Read an SSH key of yours',
    params: UserSshKeyParams,
    reply: UserSshKey,
    handle: async ({ sql, caller, params }) => {
      const key = { userId: requireUser(caller).id, sshKeyId: params.user_ssh_key_id };
      const row = await readUserSshKey(sql, key);
      if (!row) throw notFound('SSH key');
      return userSshKeyView(row);
    },
  }),
  route({
    ...OWN,
    id: 'user-ssh-keys.delete',
    method: 'delete',
    path: '/auth/ssh-keys/{user_ssh_key_id}',
    summary: 'Delete an SSH key of yours; VMs that were created with it keep it',
    params: UserSshKeyParams,
    reply: UserSshKey,
    handle: async ({ sql, caller, params }) => {
      const key = { userId: requireUser(caller).id, sshKeyId: params.user_ssh_key_id };
      return userSshKeyView(await deleteUserSshKey(sql, key));
    },
  }),
];
