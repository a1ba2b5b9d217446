import { listSshKeys, readSshKey } from '@gantry/db/queries/tenants/ssh-keys';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { changeSshKey, createSshKey, deleteSshKey } from './change.ts';
import {
  ChangeSshKey,
  CreateSshKey,
  SshKey,
  SshKeyPage,
  SshKeyParams,
  SshKeyQuery,
} from './schema.ts';
import { sshKeyView } from './view.ts';

export const sshKeyRoutes = [
  route({
    id: 'ssh-keys.create',
    method: 'post',
    path: '/projects/{project_id}/ssh-keys',
    summary: 'Store an SSH public key under a name',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateSshKey,
    reply: SshKey,
    handle: async ({ sql, scope, body, now }) =>
      sshKeyView(await createSshKey({ sql, projectId: scope.projectId, body, now })),
  }),
  route({
    id: 'ssh-keys.list',
    method: 'get',
    path: '/projects/{project_id}/ssh-keys',
    summary: 'List SSH keys',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: SshKeyQuery,
    reply: SshKeyPage,
    handle: async ({ sql, scope, query }) =>
      resourcePage(await listSshKeys(sql, toListing(scope.projectId, query)), query, sshKeyView),
  }),
  route({
    id: 'ssh-keys.get',
    method: 'get',
    path: '/projects/{project_id}/ssh-keys/{ssh_key_id}',
    summary: 'Read an SSH key',
    access: { level: 'project', role: 'read-only' },
    params: SshKeyParams,
    reply: SshKey,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, sshKeyId: params.ssh_key_id };
      const row = await readSshKey(sql, key);
      if (!row) throw notFound('SSH key');
      return sshKeyView(row);
    },
  }),
  route({
    id: 'ssh-keys.change',
    method: 'patch',
    path: '/projects/{project_id}/ssh-keys/{ssh_key_id}',
    summary: 'Replace the tags of an SSH key',
    access: { level: 'project', role: 'member' },
    params: SshKeyParams,
    body: ChangeSshKey,
    reply: SshKey,
    handle: async ({ sql, scope, params, body }) => {
      const key = { projectId: scope.projectId, sshKeyId: params.ssh_key_id };
      return sshKeyView(await changeSshKey(sql, { ...key, ...body }));
    },
  }),
  route({
    id: 'ssh-keys.delete',
    method: 'delete',
    path: '/projects/{project_id}/ssh-keys/{ssh_key_id}',
    summary: 'Delete an SSH key; VMs that were created with it keep it',
    access: { level: 'project', role: 'member' },
    params: SshKeyParams,
    reply: SshKey,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, sshKeyId: params.ssh_key_id };
      return sshKeyView(await deleteSshKey(sql, key));
    },
  }),
];
