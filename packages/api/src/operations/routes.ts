import { listOperations, readOperation } from '@gantry/db/queries/operations/operations';
import { notFound } from '@gantry/model/errors';
import type { ResourceType } from '@gantry/model/states';
import { ProjectParams, page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { Operation, OperationPage, OperationParams, OperationQuery } from './schema.ts';
import { operationView } from './view.ts';

/** The same two routes for each resource type that has asynchronous operations. */
export const operationRoutes = [
  ...operationRoutesOf({ resourceType: 'vm', path: 'vms', id: 'vm-operations', noun: 'VM' }),
  ...operationRoutesOf({
    resourceType: 'disk',
    path: 'disks',
    id: 'disk-operations',
    noun: 'disk',
  }),
  ...operationRoutesOf({
    resourceType: 'vpc-firewall-rule',
    path: 'vpc/firewall-rules',
    id: 'firewall-rule-operations',
    noun: 'firewall rule',
  }),
  ...operationRoutesOf({
    resourceType: 'snapshot',
    path: 'snapshots',
    id: 'snapshot-operations',
    noun: 'snapshot',
  }),
  ...operationRoutesOf({
    resourceType: 'backup',
    path: 'backups',
    id: 'backup-operations',
    noun: 'backup',
  }),
  ...operationRoutesOf({
    resourceType: 'image',
    path: 'images',
    id: 'image-operations',
    noun: 'image',
  }),
];

type Kind = { resourceType: ResourceType; path: string; id: string; noun: string };

function operationRoutesOf({ resourceType, path, id, noun }: Kind) {
  return [
    route({
      id: `${id}.list`,
      method: 'get',
      path: `/projects/{project_id}/${path}/operations`,
      summary: `List ${noun} operations, newest first`,
      access: { level: 'project', role: 'read-only' },
      params: ProjectParams,
      query: OperationQuery,
      reply: OperationPage,
      handle: async ({ sql, scope, query }) => {
        const rows = await listOperations(sql, {
          projectId: scope.projectId,
          resourceType,
          resourceId: query.resource_id ?? null,
          state: query.state ?? null,
          before: query.page_token,
          limit: query.limit + 1,
        });
        return page(rows, query.limit, operationView);
      },
    }),
    route({
      id: `${id}.get`,
      method: 'get',
      path: `/projects/{project_id}/${path}/operations/{operation_id}`,
      summary: `Read a ${noun} operation`,
      access: { level: 'project', role: 'read-only' },
      params: OperationParams,
      reply: Operation,
      handle: async ({ sql, scope, params }) => {
        const row = await readOperation(sql, {
          projectId: scope.projectId,
          resourceType,
          operationId: params.operation_id,
        });
        if (!row) throw notFound('operation');
        return operationView(row);
      },
    }),
  ];
}
