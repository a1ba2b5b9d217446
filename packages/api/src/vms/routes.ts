import type { Queryable } from '@gantry/db/connect';
import { readVmUsage } from '@gantry/db/queries/usage/vm-usage';
import { readSerialLog } from '@gantry/db/queries/vms/serial-logs';
import { vmView } from '@gantry/db/queries/vms/vm-view';
import { listVms } from '@gantry/db/queries/vms/vms';
import { transact } from '@gantry/db/transact';
import { notFound } from '@gantry/model/errors';
import type { Caller } from '../auth/caller.ts';
import { ProjectParams } from '../http/fields.ts';
import { namedPage, toPageBounds } from '../http/lists/named-page.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { AttachPublicAddress, DetachPublicAddress } from '../public-addresses/schema.ts';
import { VmUsage, vmUsageView } from '../usage/schema.ts';
import { attachDisks, detachDisks } from './attach-disks.ts';
import { attachPublicAddress, detachPublicAddress } from './attach-public-address.ts';
import { changeVm, deleteVm } from './change.ts';
import { createVm } from './create.ts';
import {
  AttachDisks,
  ChangeVm,
  CreateVm,
  DetachDisks,
  SerialLog,
  Vm,
  VmEstimate,
  VmPage,
  VmParams,
  VmQuery,
} from './schema.ts';
import { validateVm } from './validate.ts';

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
    handleRecorded: async ({ deps, caller, scope, body, now, deadlineMs }, record) => {
      const create = (sql: Queryable) =>
        createVm({
          ...{ sql, organizationId: scope.organizationId, projectId: scope.projectId },
          userId: userIdOf(caller),
          ...{ body, now, deadlineMs, record: (opened) => record(operationReply(opened)) },
        });
      const isOneStatement = !body.disks?.length;
      return operationReply(await (isOneStatement ? create(deps.sql) : transact(deps.sql, create)));
    },
  }),
  route({
    id: 'vms.validate',
    method: 'post',
    path: '/projects/{project_id}/vms:validate',
    summary: 'Check a creation of a VM without creating it: errors, price, and whether it fits now',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateVm,
    reply: VmEstimate,
    handleRecorded: async ({ deps, caller, scope, body, now, deadlineMs }, record) => {
      const { organizationId, projectId } = scope;
      const request = {
        organizationId,
        projectId,
        userId: userIdOf(caller),
        body,
        now,
        deadlineMs,
      };
      return await validateVm({ sql: deps.sql, ...request, record });
    },
  }),
  route({
    id: 'vms.list',
    method: 'get',
    path: '/projects/{project_id}/vms',
    summary: 'List VMs',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: VmQuery,
    reply: VmPage,
    handle: async ({ sql, scope, query }) => {
      const { limit, page_token: _, sort: __, tag, ...filters } = query;
      const rows = await listVms(sql, {
        ...filters,
        ...toPageBounds(query),
        tags: tag,
        projectId: scope.projectId,
        limit: limit + 1,
      });
      return namedPage(rows, query, vmView);
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
    handle: async ({ deps, scope, params }) => {
      const row = await deps.readVm({ projectId: scope.projectId, vmId: params.vm_id });
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
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await changeVm({ ...target, body }));
    },
  }),
  route({
    id: 'vms.delete',
    method: 'delete',
    path: '/projects/{project_id}/vms/{vm_id}',
    summary: 'Delete a VM and its OS disk; data disks are detached and stay',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await deleteVm(target));
    },
  }),
  route({
    id: 'vms.attach-disks',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/attach-disks',
    summary: 'Attach disks to a running or stopped VM',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: AttachDisks,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await attachDisks({ ...target, body }));
    },
  }),
  route({
    id: 'vms.detach-disks',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/detach-disks',
    summary: 'Detach disks from a running or stopped VM; the disks keep their content',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: DetachDisks,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await detachDisks({ ...target, body }));
    },
  }),
  route({
    id: 'vms.attach-public-address',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/attach-public-address',
    summary: 'Attach a reserved public address to a stopped VM',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: AttachPublicAddress,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await attachPublicAddress({ ...target, body }));
    },
  }),
  route({
    id: 'vms.detach-public-address',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/detach-public-address',
    summary: 'Detach a reserved public address from a stopped VM; the project keeps the address',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: DetachPublicAddress,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const target = { sql, projectId: scope.projectId, vmId: params.vm_id, now, deadlineMs };
      return operationReply(await detachPublicAddress({ ...target, body }));
    },
  }),
  route({
    id: 'vm-usage.get',
    method: 'get',
    path: '/projects/{project_id}/vms/{vm_id}/usage',
    summary: 'Read how long a VM has run and what it and its OS disk have cost until now',
    access: { level: 'project', role: 'read-only' },
    params: VmParams,
    reply: VmUsage,
    handle: async ({ sql, scope, params }) => {
      const row = await readVmUsage(sql, { projectId: scope.projectId, vmId: params.vm_id });
      if (!row) throw notFound('VM');
      return vmUsageView(params.vm_id, row);
    },
  }),
  route({
    id: 'serial-logs.get',
    method: 'get',
    path: '/projects/{project_id}/vms/{vm_id}/serial-log',
    summary: "Read the last part of a VM's serial console output",
    access: { level: 'project', role: 'read-only' },
    params: VmParams,
    reply: SerialLog,
    handle: async ({ sql, scope, params }) => {
      const row = await readSerialLog(sql, { projectId: scope.projectId, vmId: params.vm_id });
      if (!row) throw notFound('VM');
      return { serial_log: row.tail, updated_at: row.updated_at?.toISOString() ?? '' };
    },
  }),
];

/** A user's own SSH keys can be named in a creation; an access key has none. */
function userIdOf(caller: Caller): string | null {
  return caller.type === 'user' ? caller.grant.id : null;
}
