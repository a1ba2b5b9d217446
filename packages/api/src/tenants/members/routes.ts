import { listMembers, readMember } from '@gantry/db/queries/tenants/members';
import { found } from '@gantry/model/errors';
import { OrganizationParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { addMember, deleteMember } from './change.ts';
import { CreateMember, Member, MemberParams, Members } from './schema.ts';
import { memberView } from './view.ts';

export const memberRoutes = [
  route({
    id: 'members.list',
    method: 'get',
    path: '/organizations/{organization_id}/members',
    summary: 'List the members of an organization and their roles',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    params: OrganizationParams,
    reply: Members,
    handle: async ({ sql, scope }) => ({
      items: (await listMembers(sql, scope.organizationId)).map(memberView),
    }),
  }),
  route({
    id: 'members.create',
    method: 'post',
    path: '/organizations/{organization_id}/members',
    summary: 'Give a user a role in an organization or in one of its projects',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    changesAccess: true,
    params: OrganizationParams,
    body: CreateMember,
    reply: Member,
    handle: async ({ sql, scope, body, now }) =>
      memberView(await addMember({ sql, organizationId: scope.organizationId, body, now })),
  }),
  route({
    id: 'members.get',
    method: 'get',
    path: '/organizations/{organization_id}/members/{member_id}',
    summary: 'Read a member of an organization',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    params: MemberParams,
    reply: Member,
    handle: async ({ sql, scope: { organizationId }, params: { member_id: memberId } }) =>
      memberView(found(await readMember(sql, { organizationId, memberId }), 'member')),
  }),
  route({
    id: 'members.delete',
    method: 'delete',
    path: '/organizations/{organization_id}/members/{member_id}',
    summary: 'Remove a member from an organization or project',
    access: { level: 'organization', role: 'owner' },
    unpaid: true,
    changesAccess: true,
    params: MemberParams,
    reply: Member,
    handle: async ({ sql, scope, params }) =>
      memberView(
        await deleteMember(sql, {
          organizationId: scope.organizationId,
          memberId: params.member_id,
        }),
      ),
  }),
];
