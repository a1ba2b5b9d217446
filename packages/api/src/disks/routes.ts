import { diskView } from '@gantry/db/queries/vms/disk-view';
import { listDisks, readDisk } from '@gantry/db/queries/vms/disks';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { changeDisk, deleteDisk } from './change.ts';
import { createDisk } from './create.ts';
import { ChangeDisk, CreateDisk, Disk, DiskPage, DiskParams } from './schema.ts';

export const diskRoutes = [
  route({
    id: 'disks.create',
    method: 'post',
    path: '/projects/{project_id}/disks',
    summary: 'Create a disk',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateDisk,
    reply: OperationReply,
    handle: async ({ sql, scope, body, now, deadlineMs }) =>
      operationReply(await createDisk({ sql, projectId: scope.projectId, body, now, deadlineMs })),
  }),
  route({
    id: 'disks.list',
    method: 'get',
    path: '/projects/{project_id}/disks',
    summary: 'List disks, including OS disks',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: DiskPage,
    handle: async ({ sql, scope, query }) =>
      resourcePage(await listDisks(sql, toListing(scope.projectId, query)), query, diskView),
  }),
  route({
    id: 'disks.get',
    method: 'get',
    path: '/projects/{project_id}/disks/{disk_id}',
    summary: 'Read a disk',
    access: { level: 'project', role: 'read-only' },
    params: DiskParams,
    reply: Disk,
    handle: async ({ sql, scope, params }) => {
      const row = await readDisk(sql, { projectId: scope.projectId, diskId: params.disk_id });
      if (!row) throw notFound('disk');
      return diskView(row);
    },
  }),
  route({
    id: 'disks.change',
    method: 'patch',
    path: '/projects/{project_id}/disks/{disk_id}',
    summary: 'Make a disk larger, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: DiskParams,
    body: ChangeDisk,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, diskId: params.disk_id, now, deadlineMs };
      return operationReply(await changeDisk({ ...target, body }));
    },
  }),
  route({
    id: 'disks.delete',
    method: 'delete',
    path: '/projects/{project_id}/disks/{disk_id}',
    summary: 'Delete a disk that is not attached to a VM',
    access: { level: 'project', role: 'member' },
    params: DiskParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, diskId: params.disk_id, now, deadlineMs };
      return operationReply(await deleteDisk(target));
    },
  }),
];
