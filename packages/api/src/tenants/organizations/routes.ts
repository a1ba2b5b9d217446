import { listAllOrganizations, listOrganizations } from '@gantry/db/queries/tenants/organizations';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import type { Caller } from '../../auth/caller.ts';
import { NamedListQuery, OrganizationParams, page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { createOrganization, deleteOrganization, renameOrganization } from './change.ts';
import {
  AdminOrganization,
  AdminOrganizations,
  Organization,
  OrganizationName,
  Organizations,
} from './schema.ts';

export const organizationRoutes = [
  route({
    id: 'organizations.list',
    method: 'get',
    path: '/organizations',
    summary: 'List the organizations that the caller belongs to',
    access: { level: 'authenticated' },
    unpaid: true,
    reply: Organizations,
    handle: async ({ sql, caller }) => await listOrganizations(sql, organizationsOf(caller)),
  }),
  route({
    id: 'organizations.create',
    method: 'post',
    path: '/organizations',
    summary: 'Create an organization, of which the caller becomes the owner',
    access: { level: 'authenticated' },
    unpaid: true,
    changesAccess: true,
    body: OrganizationName,
    reply: Organization,
    handle: async ({ deps, sql, caller, scope, body }) => {
      const { billing } = deps;
      const organization = await createOrganization({ sql, caller, billing, name: body.name });
      // The path does not name the organization: this puts the audit line into its audit log.
      scope.organizationId = organization.id;
      return organization;
    },
  }),
  route({
    id: 'organizations.get',
    method: 'get',
    path: '/organizations/{organization_id}',
    summary: 'Read an organization',
    access: { level: 'organization', role: 'read-only' },
    unpaid: true,
    params: OrganizationParams,
    reply: Organization,
    handle: async ({ sql, scope }) =>
      found((await listOrganizations(sql, [scope.organizationId]))[0], 'organization'),
  }),
  route({
    id: 'organizations.change',
    method: 'patch',
    path: '/organizations/{organization_id}',
    summary: 'Rename an organization',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    params: OrganizationParams,
    body: OrganizationName,
    reply: Organization,
    handle: ({ sql, scope, body }) =>
      renameOrganization(sql, { organizationId: scope.organizationId, name: body.name }),
  }),
  route({
    id: 'organizations.delete',
    method: 'delete',
    path: '/organizations/{organization_id}',
    summary: 'Delete an organization that has no projects',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    changesAccess: true,
    params: OrganizationParams,
    reply: Organization,
    handle: ({ sql, scope }) => deleteOrganization(sql, scope.organizationId),
  }),
  route({
    id: 'admin-organizations.list',
    method: 'get',
    path: '/admin/organizations',
    summary: 'List every organization and whether it has a payment method, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: z.strictObject(NamedListQuery),
    reply: AdminOrganizations,
    handle: async ({ sql, query }) =>
      page(await listAllOrganizations(sql, toIdListing(query)), query.limit, (row) => row),
  }),
  route({
    id: 'admin-organizations.get',
    method: 'get',
    path: '/admin/organizations/{organization_id}',
    summary: 'Read an organization, with its standing',
    access: { level: 'operator', role: 'read-only' },
    params: OrganizationParams,
    reply: AdminOrganization,
    handle: async ({ sql, params: { organization_id } }) => {
      const only = { ids: [organization_id], after: null, limit: 1 };
      return found((await listAllOrganizations(sql, only))[0], 'organization');
    },
  }),
];

function organizationsOf(caller: Caller): string[] {
  return caller.type === 'access_key'
    ? [caller.grant.organization_id]
    : caller.grant.memberships.map(({ organization_id }) => organization_id);
}
