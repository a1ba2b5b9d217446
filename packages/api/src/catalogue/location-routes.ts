import { listLocations } from '@gantry/db/queries/catalogue';
import { route } from '../http/route.ts';
import { ChangeLocation, CreateLocation, LocationParams } from './admin-schema.ts';
import { changeLocation, createLocation } from './change-locations.ts';
import { Location, Locations } from './schema.ts';

export const adminLocationRoutes = [
  route({
    id: 'admin-locations.list',
    method: 'get',
    path: '/admin/locations',
    summary: 'Locations',
    access: { level: 'operator' },
    reply: Locations,
    handle: async ({ sql }) => ({ items: await listLocations(sql) }),
  }),
  route({
    id: 'admin-locations.create',
    method: 'post',
    path: '/admin/locations',
    summary: 'Add a location, with a subnet of every default network',
    access: { level: 'operator' },
    body: CreateLocation,
    reply: Location,
    handle: ({ sql, body }) => createLocation(sql, body),
  }),
  route({
    id: 'admin-locations.change',
    method: 'patch',
    path: '/admin/locations/{location}',
    summary: 'Describe a location anew',
    access: { level: 'operator' },
    params: LocationParams,
    body: ChangeLocation,
    reply: Location,
    handle: ({ sql, params, body }) =>
      changeLocation(sql, { name: params.location, description: body.description }),
  }),
];
