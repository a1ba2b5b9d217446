import { listVms, readVm } from '@gantry/db/queries/vms';
import { vmView } from '@gantry/db/views/vm';
import { notFound } from '@gantry/model/errors';
import { ProjectParams, page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationView } from '../operations/view.ts';
import { changeVm, deleteVm } from './change.ts';
import { createVm } from './create.ts';
import { ChangeVm, CreateVm, Vm, VmPage, VmParams, VmQuery } from './schema.ts';

export const vmRoutes = [
  route({
    id: 'vms.create',
    method: 'post',
    path: '/projects/{project_id}/vms',
    summary: 'Create a VM',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateVm,
    reply: OperationReply,
    handleRecorded: async ({ sql, scope, body, now, deadlineAt }, record) => {
      const operation = await createVm({
        sql,
        projectId: scope.projectId,
        body,
        now,
        deadlineAt,
        record: (opened) => record({ operation: operationView(opened) }),
      });
      return { operation: operationView(operation) };
    },
  }),
  route({
    id: 'vms.list',
    method: 'get',
    path: '/projects/{project_id}/vms',
    summary: 'List VMs, oldest first',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: VmQuery,
    reply: VmPage,
    handle: async ({ sql, scope, query: { limit, page_token, ...filters } }) => {
      const rows = await listVms(sql, {
        ...filters,
        projectId: scope.projectId,
        after: page_token,
        limit: limit + 1,
      });
      return page(rows, limit, vmView);
    },
  }),
  route({
    id: 'vms.get',
    method: 'get',
    path: '/projects/{project_id}/vms/{vm_id}',
    summary: 'Read a VM',
    access: { level: 'project', role: 'read-only' },
    params: VmParams,
    reply: Vm,
    handle: async ({ sql, scope, params }) => {
      const row = await readVm(sql, { projectId: scope.projectId, vmId: params.vm_id });
      if (!row) throw notFound('VM');
      return vmView(row);
    },
  }),
  route({
    id: 'vms.change',
    method: 'patch',
    path: '/projects/{project_id}/vms/{vm_id}',
    summary: 'Start, stop, reset or update a VM',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: ChangeVm,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineAt }) => ({
      operation: operationView(
        await changeVm({
          sql,
          projectId: scope.projectId,
          vmId: params.vm_id,
          body,
          now,
          deadlineAt,
        }),
      ),
    }),
  }),
  route({
    id: 'vms.delete',
    method: 'delete',
    path: '/projects/{project_id}/vms/{vm_id}',
    summary: 'Terminate a VM; its OS disk goes with it, data disks stay',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineAt }) => ({
      operation: operationView(
        await deleteVm({ sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineAt }),
      ),
    }),
  }),
];
