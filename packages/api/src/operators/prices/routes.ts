import { listPrices } from '@gantry/db/queries/prices';
import { route } from '../../http/route.ts';
import { deletePrice, setPrice } from './change.ts';
import { Price, PriceParams, Prices, SetPrice } from './schema.ts';

export const adminPriceRoutes = [
  route({
    id: 'admin-prices.list',
    method: 'get',
    path: '/admin/prices',
    summary: 'The price list: USD per hour of a VM type, per GB-hour of a disk type',
    access: { level: 'operator' },
    reply: Prices,
    handle: async ({ sql }) => ({ items: await listPrices(sql) }),
  }),
  route({
    id: 'admin-prices.set',
    method: 'put',
    path: '/admin/prices/{resource_type}',
    summary: 'Set a price',
    access: { level: 'operator' },
    params: PriceParams,
    body: SetPrice,
    reply: Price,
    handle: ({ sql, params, body }) => setPrice(sql, { ...params, ...body }),
  }),
  route({
    id: 'admin-prices.delete',
    method: 'delete',
    path: '/admin/prices/{resource_type}',
    summary: 'Take a price off the list: the type costs nothing and is marked so',
    access: { level: 'operator' },
    params: PriceParams,
    reply: Price,
    handle: ({ sql, params }) => deletePrice(sql, params.resource_type),
  }),
];
