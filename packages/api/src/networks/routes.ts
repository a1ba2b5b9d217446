import {
  listNetworks,
  listSubnets,
  readNetwork,
  readSubnet,
} from '@gantry/db/queries/networks/networks';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { changeNetwork, createNetwork, deleteNetwork } from './change-networks.ts';
import { changeSubnet, createSubnet, deleteSubnet } from './change-subnets.ts';
import {
  ChangeNetwork,
  ChangeSubnet,
  CreateNetwork,
  CreateSubnet,
  Network,
  NetworkPage,
  NetworkParams,
  Subnet,
  SubnetPage,
  SubnetParams,
} from './schema.ts';
import { networkView, subnetView } from './view.ts';

/** No host is involved: the change is complete with the reply, which is the resource itself. */
export const networkRoutes = [
  route({
    id: 'networks.create',
    method: 'post',
    path: '/projects/{project_id}/vpc/networks',
    summary: 'Create a network',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateNetwork,
    reply: Network,
    handle: async ({ sql, scope, body, now }) =>
      networkView(await createNetwork({ sql, projectId: scope.projectId, body, now })),
  }),
  route({
    id: 'networks.list',
    method: 'get',
    path: '/projects/{project_id}/vpc/networks',
    summary: 'List networks',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: NetworkPage,
    handle: async ({ sql, scope, query }) =>
      resourcePage(await listNetworks(sql, toListing(scope.projectId, query)), query, networkView),
  }),
  route({
    id: 'networks.get',
    method: 'get',
    path: '/projects/{project_id}/vpc/networks/{network_id}',
    summary: 'Read a network',
    access: { level: 'project', role: 'read-only' },
    params: NetworkParams,
    reply: Network,
    handle: async ({ sql, scope, params }) => {
      const row = await readNetwork(sql, {
        projectId: scope.projectId,
        networkId: params.network_id,
      });
      if (!row) throw notFound('network');
      return networkView(row);
    },
  }),
  route({
    id: 'networks.change',
    method: 'patch',
    path: '/projects/{project_id}/vpc/networks/{network_id}',
    summary: 'Rename a network, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: NetworkParams,
    body: ChangeNetwork,
    reply: Network,
    handle: async ({ sql, scope, params, body }) => {
      const target = { sql, projectId: scope.projectId, networkId: params.network_id };
      return networkView(await changeNetwork({ ...target, body }));
    },
  }),
  route({
    id: 'networks.delete',
    method: 'delete',
    path: '/projects/{project_id}/vpc/networks/{network_id}',
    summary: 'Delete a network that nothing refers to, and its subnets',
    access: { level: 'project', role: 'member' },
    params: NetworkParams,
    reply: Network,
    handle: async ({ sql, scope, params }) =>
      networkView(
        await deleteNetwork({ sql, projectId: scope.projectId, networkId: params.network_id }),
      ),
  }),
  route({
    id: 'subnets.create',
    method: 'post',
    path: '/projects/{project_id}/vpc/subnets',
    summary: 'Create a subnet of a network in a location',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateSubnet,
    reply: Subnet,
    handle: async ({ sql, scope, body, now }) =>
      subnetView(await createSubnet({ sql, projectId: scope.projectId, body, now })),
  }),
  route({
    id: 'subnets.list',
    method: 'get',
    path: '/projects/{project_id}/vpc/subnets',
    summary: 'List subnets',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: SubnetPage,
    handle: async ({ sql, scope, query }) =>
      resourcePage(await listSubnets(sql, toListing(scope.projectId, query)), query, subnetView),
  }),
  route({
    id: 'subnets.get',
    method: 'get',
    path: '/projects/{project_id}/vpc/subnets/{subnet_id}',
    summary: 'Read a subnet',
    access: { level: 'project', role: 'read-only' },
    params: SubnetParams,
    reply: Subnet,
    handle: async ({ sql, scope, params }) => {
      const row = await readSubnet(sql, { projectId: scope.projectId, subnetId: params.subnet_id });
      if (!row) throw notFound('subnet');
      return subnetView(row);
    },
  }),
  route({
    id: 'subnets.change',
    method: 'patch',
    path: '/projects/{project_id}/vpc/subnets/{subnet_id}',
    summary: 'Rename a subnet, or replace its tags',
    access: { level: 'project', role: 'member' },
    params: SubnetParams,
    body: ChangeSubnet,
    reply: Subnet,
    handle: async ({ sql, scope, params, body }) => {
      const target = { sql, projectId: scope.projectId, subnetId: params.subnet_id };
      return subnetView(await changeSubnet({ ...target, body }));
    },
  }),
  route({
    id: 'subnets.delete',
    method: 'delete',
    path: '/projects/{project_id}/vpc/subnets/{subnet_id}',
    summary: 'Delete a subnet that nothing refers to',
    access: { level: 'project', role: 'member' },
    params: SubnetParams,
    reply: Subnet,
    handle: async ({ sql, scope, params }) =>
      subnetView(
        await deleteSubnet({ sql, projectId: scope.projectId, subnetId: params.subnet_id }),
      ),
  }),
];
