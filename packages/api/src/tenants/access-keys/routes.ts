import { listAccessKeys } from '@gantry/db/queries/tenants/access-keys';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../../http/lists/resource-list.ts';
import { route } from '../../http/route.ts';
import { changeAccessKey, createAccessKey, deleteAccessKey } from './change.ts';
import {
  AccessKey,
  AccessKeyPage,
  AccessKeyParams,
  ChangeAccessKey,
  CreateAccessKey,
  NewAccessKey,
} from './schema.ts';
import { accessKeyView } from './view.ts';

export const accessKeyRoutes = [
  route({
    id: 'access-keys.list',
    method: 'get',
    path: '/projects/{project_id}/access-keys',
    summary: 'List access keys without their secrets',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: AccessKeyPage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listAccessKeys(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, accessKeyView);
    },
  }),
  route({
    id: 'access-keys.get',
    method: 'get',
    path: '/projects/{project_id}/access-keys/{access_key_id}',
    summary: 'Read an access key without its secret',
    access: { level: 'project', role: 'read-only' },
    params: AccessKeyParams,
    reply: AccessKey,
    handle: async ({ sql, scope, params }) => {
      const ids = [params.access_key_id];
      const whole = { names: null, page_token: null, sort: 'created_at', limit: null } as const;
      const [row] = await listAccessKeys(sql, toListing(scope.projectId, { ids, ...whole }));
      if (!row) throw notFound('access key');
      return accessKeyView(row);
    },
  }),
  route({
    id: 'access-keys.create',
    method: 'post',
    path: '/projects/{project_id}/access-keys',
    summary: 'Create an access key; only this reply shows its secret',
    access: { level: 'project', role: 'member' },
    secretReply: true,
    params: ProjectParams,
    body: CreateAccessKey,
    reply: NewAccessKey,
    handle: async ({ sql, caller, scope, body, now }) => {
      const { row, secret } = await createAccessKey({ sql, caller, scope, body, now });
      return { ...accessKeyView(row), access_key: secret };
    },
  }),
  route({
    id: 'access-keys.change',
    method: 'patch',
    path: '/projects/{project_id}/access-keys/{access_key_id}',
    summary: 'Replace the tags of an access key',
    access: { level: 'project', role: 'member' },
    params: AccessKeyParams,
    body: ChangeAccessKey,
    reply: AccessKey,
    handle: async ({ sql, scope, params, body }) => {
      const key = { projectId: scope.projectId, accessKeyId: params.access_key_id };
      return accessKeyView(await changeAccessKey(sql, { ...key, ...body }));
    },
  }),
  route({
    id: 'access-keys.delete',
    method: 'delete',
    path: '/projects/{project_id}/access-keys/{access_key_id}',
    summary: 'Revoke an access key',
    access: { level: 'project', role: 'member' },
    changesAccess: true,
    params: AccessKeyParams,
    reply: AccessKey,
    handle: async ({ sql, scope, params }) =>
      accessKeyView(
        await deleteAccessKey(sql, {
          projectId: scope.projectId,
          accessKeyId: params.access_key_id,
        }),
      ),
  }),
];
