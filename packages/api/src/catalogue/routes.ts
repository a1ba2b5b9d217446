import {
  listAvailabilities,
  listLocations,
  listVmTypes,
} from '@gantry/db/queries/catalogue/catalogue';
import { found } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { changeLocation, createLocation } from './change-locations.ts';
import { changeVmType, createVmType } from './change-vm-types.ts';
import {
  AdminVmType,
  AdminVmTypes,
  Availabilities,
  AvailabilityQuery,
  ChangeLocation,
  ChangeVmType,
  CreateLocation,
  CreateVmType,
  Location,
  LocationParams,
  Locations,
  Spec,
  SpecParams,
  Specs,
  VmTypeParams,
} from './schema.ts';
import { availabilityView, specView } from './view.ts';

/** Locations and VM types: what tenants can choose, and how operators change it. */
export const catalogueRoutes = [
  route({
    id: 'locations.list',
    method: 'get',
    path: '/locations',
    summary: 'List the locations',
    access: { level: 'authenticated' },
    reply: Locations,
    handle: async ({ sql }) => ({ items: await listLocations(sql) }),
  }),
  route({
    id: 'locations.get',
    method: 'get',
    path: '/locations/{location}',
    summary: 'Read a location',
    access: { level: 'authenticated' },
    params: LocationParams,
    reply: Location,
    handle: async ({ sql, params }) =>
      found(
        (await listLocations(sql)).find(({ name }) => name === params.location),
        'location',
      ),
  }),
  route({
    id: 'availabilities.list',
    method: 'get',
    path: '/projects/{project_id}/availabilities',
    summary: 'List which VM types are available now in which location',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: AvailabilityQuery,
    reply: Availabilities,
    handle: async ({ sql, query }) => {
      const filter = { type: query.product_name ?? null, location: query.location ?? null };
      return { items: (await listAvailabilities(sql, filter)).map(availabilityView) };
    },
  }),
  route({
    id: 'specs.list',
    method: 'get',
    path: '/projects/{project_id}/specs',
    summary: 'List the VM types with their CPUs, memory, disks and GPUs',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Specs,
    handle: async ({ sql }) => ({
      items: (await listVmTypes(sql, { retired: false })).map(specView),
    }),
  }),
  route({
    id: 'specs.get',
    method: 'get',
    path: '/projects/{project_id}/specs/{product_name}',
    summary: 'Read a VM type',
    access: { level: 'project', role: 'read-only' },
    params: SpecParams,
    reply: Spec,
    handle: async ({ sql, params }) => {
      const types = await listVmTypes(sql, { retired: false });
      return specView(
        found(
          types.find(({ name }) => name === params.product_name),
          'VM type',
        ),
      );
    },
  }),
  route({
    id: 'admin-locations.list',
    method: 'get',
    path: '/admin/locations',
    summary: 'List the locations',
    access: { level: 'operator', role: 'read-only' },
    reply: Locations,
    handle: async ({ sql }) => ({ items: await listLocations(sql) }),
  }),
  route({
    id: 'admin-locations.get',
    method: 'get',
    path: '/admin/locations/{location}',
    summary: 'Read a location',
    access: { level: 'operator', role: 'read-only' },
    params: LocationParams,
    reply: Location,
    handle: async ({ sql, params }) =>
      found(
        (await listLocations(sql)).find(({ name }) => name === params.location),
        'location',
      ),
  }),
  route({
    id: 'admin-locations.create',
    method: 'post',
    path: '/admin/locations',
    summary: 'Add a location, and a subnet there to the default network of every project',
    access: { level: 'operator', role: 'admin' },
    body: CreateLocation,
    reply: Location,
    handleRecorded: ({ deps, body }, record) =>
      createLocation({ sql: deps.sql, location: body, record }),
  }),
  route({
    id: 'admin-locations.change',
    method: 'patch',
    path: '/admin/locations/{location}',
    summary: 'Change the description of a location',
    access: { level: 'operator', role: 'admin' },
    params: LocationParams,
    body: ChangeLocation,
    reply: Location,
    handle: ({ sql, params, body }) =>
      changeLocation(sql, { name: params.location, description: body.description }),
  }),
  route({
    id: 'admin-vm-types.list',
    method: 'get',
    path: '/admin/vm-types',
    summary: 'List the VM types, including retired ones',
    access: { level: 'operator', role: 'read-only' },
    reply: AdminVmTypes,
    handle: async ({ sql }) => ({ items: await listVmTypes(sql, { retired: true }) }),
  }),
  route({
    id: 'admin-vm-types.get',
    method: 'get',
    path: '/admin/vm-types/{vm_type}',
    summary: 'Read a VM type, also a retired one',
    access: { level: 'operator', role: 'read-only' },
    params: VmTypeParams,
    reply: AdminVmType,
    handle: async ({ sql, params }) => {
      const types = await listVmTypes(sql, { retired: true });
      return found(
        types.find(({ name }) => name === params.vm_type),
        'VM type',
      );
    },
  }),
  route({
    id: 'admin-vm-types.create',
    method: 'post',
    path: '/admin/vm-types',
    summary: 'Add a VM type',
    access: { level: 'operator', role: 'admin' },
    body: CreateVmType,
    reply: AdminVmType,
    handle: ({ sql, body }) => createVmType(sql, body),
  }),
  route({
    id: 'admin-vm-types.change',
    method: 'patch',
    path: '/admin/vm-types/{vm_type}',
    summary: 'Change the description or the locations of a VM type, or retire it',
    access: { level: 'operator', role: 'admin' },
    params: VmTypeParams,
    body: ChangeVmType,
    reply: AdminVmType,
    handle: ({ sql, params, body }) => changeVmType(sql, { name: params.vm_type, body }),
  }),
];
