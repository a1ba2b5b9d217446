import { OrganizationParams } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { requireStanding, resumeOrganization, suspendOrganization } from '../standing/change.ts';
import { Standing, SuspendOrganization } from './standing-schema.ts';
import { standingView } from './standing-view.ts';

const HOUR_MS = 3_600_000;

export const standingRoutes = [
  route({
    id: 'standing.get',
    method: 'get',
    path: '/organizations/{organization_id}/standing',
    summary: 'Read whether the organization is in good standing, and until when it has to act',
    access: { level: 'organization', role: 'read-only' },
    unpaid: true,
    params: OrganizationParams,
    reply: Standing,
    handle: async ({ sql, scope: { organizationId } }) =>
      standingView(organizationId, await requireStanding(sql, organizationId)),
  }),
  route({
    id: 'admin-organizations.suspend',
    method: 'post',
    path: '/admin/organizations/{organization_id}:suspend',
    summary:
      'Suspend an organization: it cannot create or start VMs, and its running VMs are stopped ' +
      'after a period of grace',
    access: { level: 'operator', role: 'support' },
    params: OrganizationParams,
    body: SuspendOrganization,
    reply: Standing,
    handle: async ({ sql, scope, params: { organization_id: organizationId }, body }) => {
      const { reason, grace_hours } = body;
      const standing = await suspendOrganization(sql, {
        ...{ organizationId, cause: 'operator', reason, graceMs: grace_hours * HOUR_MS },
      });
      // This puts the audit line into the organization's audit log.
      scope.organizationId = organizationId;
      return standingView(organizationId, standing);
    },
  }),
  route({
    id: 'admin-organizations.resume',
    method: 'post',
    path: '/admin/organizations/{organization_id}:resume',
    summary: 'End the suspension of an organization, and its payment problem; VMs stay stopped',
    access: { level: 'operator', role: 'support' },
    params: OrganizationParams,
    reply: Standing,
    handle: async ({ sql, scope, params: { organization_id: organizationId } }) => {
      const standing = await resumeOrganization(sql, organizationId);
      scope.organizationId = organizationId;
      return standingView(organizationId, standing);
    },
  }),
];
