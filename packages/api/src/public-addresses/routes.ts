import {
  listReservedAddresses,
  readReservedAddress,
} from '@gantry/db/queries/networks/reserved-addresses';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { changeAddress, releaseAddress, requireAddress, reserveAddress } from './change.ts';
import {
  ChangeReservedAddress,
  ReserveAddress,
  ReservedAddress,
  ReservedAddressPage,
  ReservedAddressParams,
  ReservedAddressQuery,
} from './schema.ts';
import { reservedAddressView } from './view.ts';

export const publicAddressRoutes = [
  route({
    id: 'public-addresses.create',
    method: 'post',
    path: '/projects/{project_id}/vpc/public-addresses',
    summary: 'Reserve a public address in a location',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: ReserveAddress,
    reply: ReservedAddress,
    handle: async ({ sql, scope, body, now }) =>
      reservedAddressView(await reserveAddress({ sql, projectId: scope.projectId, body, now })),
  }),
  route({
    id: 'public-addresses.list',
    method: 'get',
    path: '/projects/{project_id}/vpc/public-addresses',
    summary: 'List reserved public addresses',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: ReservedAddressQuery,
    reply: ReservedAddressPage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listReservedAddresses(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, reservedAddressView);
    },
  }),
  route({
    id: 'public-addresses.get',
    method: 'get',
    path: '/projects/{project_id}/vpc/public-addresses/{address_id}',
    summary: 'Read a reserved public address',
    access: { level: 'project', role: 'read-only' },
    params: ReservedAddressParams,
    reply: ReservedAddress,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, addressId: params.address_id };
      return reservedAddressView(requireAddress(await readReservedAddress(sql, key)));
    },
  }),
  route({
    id: 'public-addresses.change',
    method: 'patch',
    path: '/projects/{project_id}/vpc/public-addresses/{address_id}',
    summary: 'Rename a reserved public address, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: ReservedAddressParams,
    body: ChangeReservedAddress,
    reply: ReservedAddress,
    handle: async ({ sql, scope, params, body }) => {
      const target = { sql, projectId: scope.projectId, addressId: params.address_id };
      return reservedAddressView(await changeAddress({ ...target, body }));
    },
  }),
  route({
    id: 'public-addresses.delete',
    method: 'delete',
    path: '/projects/{project_id}/vpc/public-addresses/{address_id}',
    summary: 'Release a public address that is attached to no VM',
    access: { level: 'project', role: 'member' },
    params: ReservedAddressParams,
    reply: ReservedAddress,
    handle: async ({ sql, scope, params }) => {
      const target = { sql, projectId: scope.projectId, addressId: params.address_id };
      return reservedAddressView(await releaseAddress(target));
    },
  }),
];
