import { listAllDisks } from '@gantry/db/queries/operators/all-disks';
import { listAllOperations } from '@gantry/db/queries/operators/all-operations';
import { listAllVms } from '@gantry/db/queries/operators/all-vms';
import { notFound } from '@gantry/model/errors';
import { isNewestFirst, page } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { OperationReply } from '../../operations/schema.ts';
import { operationReply } from '../../operations/view.ts';
import { moveVm } from './move.ts';
import {
  AdminDisk,
  AdminDiskPage,
  AdminDiskParams,
  AdminDiskQuery,
  AdminOperation,
  AdminOperationPage,
  AdminOperationParams,
  AdminOperationQuery,
  AdminVm,
  AdminVmPage,
  AdminVmParams,
  AdminVmQuery,
  MoveVm,
} from './schema.ts';
import { adminDiskView, adminOperationView, adminVmView } from './view.ts';

const OF_OPERATORS = { level: 'operator', role: 'read-only' } as const;
const EVERY_TENANT = { organizationId: null, projectId: null };
const ANY_VM = { hostId: null, names: null, types: null, locations: null, states: null };
const ANY_OPERATION = { resourceType: null, resourceId: null, name: null, state: null };

/** The resources of all tenants. Operators see them, move VMs, and change the rest by the routes of the project. */
export const adminResourceRoutes = [
  route({
    id: 'admin-vms.list',
    method: 'get',
    path: '/admin/vms',
    summary: 'List the VMs of all tenants',
    access: OF_OPERATORS,
    query: AdminVmQuery,
    reply: AdminVmPage,
    handle: async ({ sql, query: { limit, page_token, sort, tag, ...query } }) => {
      const { organization_id, project_id, host_id, ...filters } = query;
      const rows = await listAllVms(sql, {
        ...filters,
        organizationId: organization_id ?? null,
        projectId: project_id ?? null,
        hostId: host_id ?? null,
        tags: tag,
        after: page_token,
        newestFirst: isNewestFirst(sort),
        limit: limit + 1,
      });
      return page(rows, limit, adminVmView);
    },
  }),
  route({
    id: 'admin-vms.get',
    method: 'get',
    path: '/admin/vms/{vm_id}',
    summary: 'Read a VM of any tenant',
    access: OF_OPERATORS,
    params: AdminVmParams,
    reply: AdminVm,
    handle: async ({ sql, params: { vm_id } }) => {
      const only = { ids: [vm_id], tags: [], after: null, limit: 1 };
      const [row] = await listAllVms(sql, { ...EVERY_TENANT, ...ANY_VM, ...only });
      if (!row) throw notFound('VM');
      return adminVmView(row);
    },
  }),
  route({
    id: 'admin-vms.move',
    method: 'post',
    path: '/admin/vms/{vm_id}:move',
    summary:
      'Stop a running VM whose disks are all in storage clusters, and start it on another host',
    access: { level: 'operator', role: 'admin' },
    params: AdminVmParams,
    body: MoveVm,
    reply: OperationReply,
    handle: async ({ sql, params: { vm_id: vmId }, body, now, deadlineMs }) =>
      operationReply(await moveVm({ sql, vmId, body, now, deadlineMs })),
  }),
  route({
    id: 'admin-disks.list',
    method: 'get',
    path: '/admin/disks',
    summary: 'List the disks of all tenants, including OS disks',
    access: OF_OPERATORS,
    query: AdminDiskQuery,
    reply: AdminDiskPage,
    handle: async ({ sql, query: { limit, page_token, sort, ...query } }) => {
      const { organization_id, project_id, host_id, ...filters } = query;
      const rows = await listAllDisks(sql, {
        ...filters,
        organizationId: organization_id ?? null,
        projectId: project_id ?? null,
        hostId: host_id ?? null,
        after: page_token,
        newestFirst: isNewestFirst(sort),
        limit: limit + 1,
      });
      return page(rows, limit, adminDiskView);
    },
  }),
  route({
    id: 'admin-disks.get',
    method: 'get',
    path: '/admin/disks/{disk_id}',
    summary: 'Read a disk of any tenant',
    access: OF_OPERATORS,
    params: AdminDiskParams,
    reply: AdminDisk,
    handle: async ({ sql, params: { disk_id } }) => {
      const only = { ids: [disk_id], after: null, limit: 1 };
      const [row] = await listAllDisks(sql, { ...EVERY_TENANT, ...ANY_VM, ...only });
      if (!row) throw notFound('disk');
      return adminDiskView(row);
    },
  }),
  route({
    id: 'admin-operations.list',
    method: 'get',
    path: '/admin/operations',
    summary: 'List the operations of all tenants, newest first',
    access: OF_OPERATORS,
    query: AdminOperationQuery,
    reply: AdminOperationPage,
    handle: async ({ sql, query }) => {
      const rows = await listAllOperations(sql, {
        organizationId: query.organization_id ?? null,
        projectId: query.project_id ?? null,
        ids: null,
        resourceType: query.resource_type ?? null,
        resourceId: query.resource_id ?? null,
        name: query.operation_name ?? null,
        state: query.state ?? null,
        before: query.page_token,
        limit: query.limit + 1,
      });
      return page(rows, query.limit, adminOperationView);
    },
  }),
  route({
    id: 'admin-operations.get',
    method: 'get',
    path: '/admin/operations/{operation_id}',
    summary: 'Read an operation of any tenant',
    access: OF_OPERATORS,
    params: AdminOperationParams,
    reply: AdminOperation,
    handle: async ({ sql, params: { operation_id } }) => {
      const only = { ids: [operation_id], before: null, limit: 1 };
      const [row] = await listAllOperations(sql, { ...EVERY_TENANT, ...ANY_OPERATION, ...only });
      if (!row) throw notFound('operation');
      return adminOperationView(row);
    },
  }),
];
