import {
  listAvailabilities,
  listImages,
  listLocations,
  listVmTypes,
} from '@gantry/db/queries/catalogue';
import { ProjectParams } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { Availabilities, AvailabilityQuery, Images, Locations, Specs } from './schema.ts';
import { imageView, specView } from './view.ts';

/** What can be had, and where. */
export const catalogueRoutes = [
  route({
    id: 'locations.list',
    method: 'get',
    path: '/locations',
    summary: 'Locations',
    access: { level: 'authenticated' },
    reply: Locations,
    handle: async ({ sql }) => ({ items: await listLocations(sql) }),
  }),
  route({
    id: 'availabilities.list',
    method: 'get',
    path: '/projects/{project_id}/availabilities',
    summary: 'Which VM types can be had now, and where',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: AvailabilityQuery,
    reply: Availabilities,
    handle: async ({ sql, query }) => ({
      items: await listAvailabilities(sql, {
        type: query.product_name ?? null,
        location: query.location ?? null,
      }),
    }),
  }),
  route({
    id: 'specs.list',
    method: 'get',
    path: '/projects/{project_id}/specs',
    summary: 'The VM types and what they consist of',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Specs,
    handle: async ({ sql }) => ({
      items: (await listVmTypes(sql, { retired: false })).map(specView),
    }),
  }),
  route({
    id: 'images.list',
    method: 'get',
    path: '/projects/{project_id}/images',
    summary: 'The OS images',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Images,
    handle: async ({ sql }) => ({
      items: (await listImages(sql, { retired: false })).map(imageView),
    }),
  }),
];
