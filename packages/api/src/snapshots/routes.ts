import { snapshotView } from '@gantry/db/queries/snapshots/snapshot-view';
import { listSnapshots, readSnapshot } from '@gantry/db/queries/snapshots/snapshots';
import { found } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { changeSnapshot, createSnapshot, deleteSnapshot } from './change.ts';
import { restoreSnapshot } from './restore.ts';
import {
  ChangeSnapshot,
  CreateSnapshot,
  Snapshot,
  SnapshotPage,
  SnapshotParams,
} from './schema.ts';

export const snapshotRoutes = [
  route({
    id: 'snapshots.create',
    method: 'post',
    path: '/projects/{project_id}/snapshots',
    summary: 'Make a snapshot of a disk',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateSnapshot,
    reply: OperationReply,
    handle: async ({ sql, scope, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await createSnapshot({ ...place, body }));
    },
  }),
  route({
    id: 'snapshots.list',
    method: 'get',
    path: '/projects/{project_id}/snapshots',
    summary: 'List snapshots',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: SnapshotPage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listSnapshots(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, snapshotView);
    },
  }),
  route({
    id: 'snapshots.get',
    method: 'get',
    path: '/projects/{project_id}/snapshots/{snapshot_id}',
    summary: 'Read a snapshot',
    access: { level: 'project', role: 'read-only' },
    params: SnapshotParams,
    reply: Snapshot,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, snapshotId: params.snapshot_id };
      return snapshotView(found(await readSnapshot(sql, key), 'snapshot'));
    },
  }),
  route({
    id: 'snapshots.change',
    method: 'patch',
    path: '/projects/{project_id}/snapshots/{snapshot_id}',
    summary: 'Rename a snapshot, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: SnapshotParams,
    body: ChangeSnapshot,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, snapshotId: params.snapshot_id };
      return operationReply(await changeSnapshot({ ...target, body }));
    },
  }),
  route({
    id: 'snapshots.delete',
    method: 'delete',
    path: '/projects/{project_id}/snapshots/{snapshot_id}',
    summary: 'Delete a snapshot',
    access: { level: 'project', role: 'member' },
    params: SnapshotParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await deleteSnapshot({ ...place, snapshotId: params.snapshot_id }));
    },
  }),
  route({
    id: 'snapshots.restore',
    method: 'post',
    path: '/projects/{project_id}/snapshots/{snapshot_id}:restore',
    summary: 'Set the content of a disk back to a snapshot; its VM must be stopped',
    access: { level: 'project', role: 'member' },
    params: SnapshotParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await restoreSnapshot({ ...place, snapshotId: params.snapshot_id }));
    },
  }),
];
