import { listVmTypes } from '@gantry/db/queries/catalogue';
import { route } from '../http/route.ts';
import {
  AdminVmType,
  AdminVmTypes,
  ChangeVmType,
  CreateVmType,
  VmTypeParams,
} from './admin-schema.ts';
import { changeVmType, createVmType } from './change-vm-types.ts';

export const adminVmTypeRoutes = [
  route({
    id: 'admin-vm-types.list',
    method: 'get',
    path: '/admin/vm-types',
    summary: 'VM types, retired ones too',
    access: { level: 'operator' },
    reply: AdminVmTypes,
    handle: async ({ sql }) => ({ items: await listVmTypes(sql, { retired: true }) }),
  }),
  route({
    id: 'admin-vm-types.create',
    method: 'post',
    path: '/admin/vm-types',
    summary: 'Add a VM type',
    access: { level: 'operator' },
    body: CreateVmType,
    reply: AdminVmType,
    handle: ({ sql, body }) => createVmType(sql, body),
  }),
  route({
    id: 'admin-vm-types.change',
    method: 'patch',
    path: '/admin/vm-types/{vm_type}',
    summary: 'Describe a VM type anew, retire it, or change where it is offered',
    access: { level: 'operator' },
    params: VmTypeParams,
    body: ChangeVmType,
    reply: AdminVmType,
    handle: ({ sql, params, body }) => changeVmType(sql, { name: params.vm_type, body }),
  }),
];
