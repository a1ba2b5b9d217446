import { listPublicAddresses } from '@gantry/db/queries/networks/public-addresses';
import { found } from '@gantry/model/errors';
import { page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { addPublicAddresses, deletePublicAddress } from './change.ts';
import {
  AddedPublicAddresses,
  AddPublicAddresses,
  PublicAddress,
  PublicAddressPage,
  PublicAddressParams,
  PublicAddressQuery,
} from './schema.ts';
import { publicAddressView } from './view.ts';

export const adminPublicAddressRoutes = [
  route({
    id: 'admin-public-addresses.list',
    method: 'get',
    path: '/admin/public-addresses',
    summary: 'List public addresses and the VMs that have them, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: PublicAddressQuery,
    reply: PublicAddressPage,
    handle: async ({ sql, query }) => {
      const rows = await listPublicAddresses(sql, {
        ...toIdListing(query),
        location: query.location ?? null,
      });
      return page(rows, query.limit, publicAddressView);
    },
  }),
  route({
    id: 'admin-public-addresses.get',
    method: 'get',
    path: '/admin/public-addresses/{public_address_id}',
    summary: 'Read a public address',
    access: { level: 'operator', role: 'read-only' },
    params: PublicAddressParams,
    reply: PublicAddress,
    handle: async ({ sql, params }) => {
      const only = { ids: [params.public_address_id], location: null, after: null, limit: 1 };
      return publicAddressView(found((await listPublicAddresses(sql, only))[0], 'public address'));
    },
  }),
  route({
    id: 'admin-public-addresses.create',
    method: 'post',
    path: '/admin/public-addresses',
    summary: 'Add every address of a block to a location, for its VMs; existing addresses stay',
    access: { level: 'operator', role: 'admin' },
    body: AddPublicAddresses,
    reply: AddedPublicAddresses,
    handle: ({ sql, body, now }) => addPublicAddresses({ sql, body, now }),
  }),
  route({
    id: 'admin-public-addresses.delete',
    method: 'delete',
    path: '/admin/public-addresses/{public_address_id}',
    summary: 'Delete a public address that no VM has and no project has reserved',
    access: { level: 'operator', role: 'admin' },
    params: PublicAddressParams,
    reply: PublicAddress,
    handle: async ({ sql, params }) =>
      publicAddressView(await deletePublicAddress(sql, params.public_address_id)),
  }),
];
