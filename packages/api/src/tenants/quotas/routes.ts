import { listOrganizationQuotas, listQuotas } from '@gantry/db/queries/tenants/quotas';
import { notFound } from '@gantry/model/errors';
import { OrganizationParams, ProjectParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { changeOrganizationQuotas, changeQuotas } from './change.ts';
import { ChangeOrganizationQuotas, ChangeQuotas, OrganizationQuotas, Quotas } from './schema.ts';
import { quotaView } from './view.ts';

export const quotaRoutes = [
  route({
    id: 'quotas.list',
    method: 'get',
    path: '/projects/{project_id}/quotas',
    summary: 'List the quotas of a project and how much of each is used',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    reply: Quotas,
    handle: async ({ sql, scope }) => ({
      quotas: (await listQuotas(sql, scope.projectId)).map(quotaView),
    }),
  }),
  route({
    id: 'admin-quotas.list',
    method: 'get',
    path: '/admin/projects/{project_id}/quotas',
    summary: 'List the quotas of any project and how much of each is used',
    access: { level: 'operator', role: 'read-only' },
    params: ProjectParams,
    reply: Quotas,
    handle: async ({ sql, params }) => {
      const rows = await listQuotas(sql, params.project_id);
      if (rows.length === 0) throw notFound('project');
      return { quotas: rows.map(quotaView) };
    },
  }),
  route({
    id: 'admin-quotas.set',
    method: 'put',
    path: '/admin/projects/{project_id}/quotas',
    summary: 'Set quotas of a project; types that are absent keep their maximum',
    access: { level: 'operator', role: 'support' },
    params: ProjectParams,
    body: ChangeQuotas,
    reply: Quotas,
    handle: async ({ sql, params, body }) => {
      const rows = await changeQuotas(sql, { projectId: params.project_id, max: body });
      return { quotas: rows.map(quotaView) };
    },
  }),
  route({
    id: 'organization-quotas.list',
    method: 'get',
    path: '/organizations/{organization_id}/quotas',
    summary: 'List what the projects of an organization may use together, and how much is used',
    access: { level: 'organization', role: 'read-only' },
    params: OrganizationParams,
    reply: OrganizationQuotas,
    handle: async ({ sql, scope }) => ({
      quotas: (await listOrganizationQuotas(sql, scope.organizationId)).map(quotaView),
    }),
  }),
  route({
    id: 'admin-organization-quotas.list',
    method: 'get',
    path: '/admin/organizations/{organization_id}/quotas',
    summary: 'List the quotas of any organization and how much of each is used',
    access: { level: 'operator', role: 'read-only' },
    params: OrganizationParams,
    reply: OrganizationQuotas,
    handle: async ({ sql, params }) => {
      const rows = await listOrganizationQuotas(sql, params.organization_id);
      if (rows.length === 0) throw notFound('organization');
      return { quotas: rows.map(quotaView) };
    },
  }),
  route({
    id: 'admin-organization-quotas.set',
    method: 'put',
    path: '/admin/organizations/{organization_id}/quotas',
    summary: 'Set quotas of an organization; types that are absent keep their maximum',
    access: { level: 'operator', role: 'support' },
    params: OrganizationParams,
    body: ChangeOrganizationQuotas,
    reply: OrganizationQuotas,
    handle: async ({ sql, params, body }) => {
      const change = { organizationId: params.organization_id, max: body };
      const rows = await changeOrganizationQuotas(sql, change);
      return { quotas: rows.map(quotaView) };
    },
  }),
];
