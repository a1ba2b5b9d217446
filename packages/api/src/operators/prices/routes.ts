import { listPrices } from '@gantry/db/queries/catalogue/prices';
import { found } from '@gantry/model/errors';
import { route } from '../../http/route.ts';
import { deletePrice, setPrice } from './change.ts';
import { Price, PriceParams, Prices, SetPrice } from './schema.ts';

export const adminPriceRoutes = [
  route({
    id: 'admin-prices.list',
    method: 'get',
    path: '/admin/prices',
    summary: 'List the prices: USD per hour of a VM type, or per GB-hour of a disk type',
    access: { level: 'operator', role: 'read-only' },
    reply: Prices,
    handle: async ({ sql }) => ({ items: await listPrices(sql) }),
  }),
  route({
    id: 'admin-prices.get',
    method: 'get',
    path: '/admin/prices/{resource_type}',
    summary: 'Read a price',
    access: { level: 'operator', role: 'read-only' },
    params: PriceParams,
    reply: Price,
    handle: async ({ sql, params: { resource_type } }) => {
      const prices = await listPrices(sql);
      return found(
        prices.find((price) => price.resource_type === resource_type),
        'price',
      );
    },
  }),
  route({
    id: 'admin-prices.set',
    method: 'put',
    path: '/admin/prices/{resource_type}',
    summary: 'Set a price',
    access: { level: 'operator', role: 'admin' },
    params: PriceParams,
    body: SetPrice,
    reply: Price,
    handle: ({ sql, params, body }) => setPrice(sql, { ...params, ...body }),
  }),
  route({
    id: 'admin-prices.delete',
    method: 'delete',
    path: '/admin/prices/{resource_type}',
    summary: 'Delete a price: the type then costs nothing, and its usage is marked as not priced',
    access: { level: 'operator', role: 'admin' },
    params: PriceParams,
    reply: Price,
    handle: ({ sql, params }) => deletePrice(sql, params.resource_type),
  }),
];
