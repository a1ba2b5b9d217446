import { listOrganizations } from '@gantry/db/queries/organizations';
import type { Caller } from '../../auth/caller.ts';
import { OrganizationParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { createOrganization, deleteOrganization, renameOrganization } from './change.ts';
import { Organization, OrganizationName, Organizations } from './schema.ts';

export const organizationRoutes = [
  route({
    id: 'organizations.list',
    method: 'get',
    path: '/organizations',
    summary: 'The organizations the caller belongs to',
    access: { level: 'authenticated' },
    unpaid: true,
    reply: Organizations,
    handle: async ({ sql, caller }) => await listOrganizations(sql, organizationsOf(caller)),
  }),
  route({
    id: 'organizations.create',
    method: 'post',
    path: '/organizations',
    summary: 'Create an organization and own it',
    access: { level: 'authenticated' },
    unpaid: true,
    changesAccess: true,
    body: OrganizationName,
    reply: Organization,
    handle: async ({ deps, sql, caller, scope, body }) => {
      const { billing } = deps;
      const organization = await createOrganization({ sql, caller, billing, name: body.name });
      // Its audit log begins with this line; the path could not name it.
      scope.organizationId = organization.id;
      return organization;
    },
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
];

function organizationsOf(caller: Caller): string[] {
  return caller.type === 'access_key'
    ? [caller.grant.organization_id]
    : caller.grant.memberships.map(({ organization_id }) => organization_id);
}
