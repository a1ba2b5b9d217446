import { listAllProjects, listProjects, readProject } from '@gantry/db/queries/tenants/projects';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import type { Caller } from '../../auth/caller.ts';
import { NamedListQuery, ProjectParams, page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { createProject, deleteProject, renameProject } from './change.ts';
import { ChangeProject, CreateProject, Project, ProjectPage, Projects } from './schema.ts';

export const projectRoutes = [
  route({
    id: 'projects.list',
    method: 'get',
    path: '/projects',
    summary: 'List the projects that the caller may use',
    access: { level: 'authenticated' },
    unpaid: true,
    reply: Projects,
    handle: async ({ sql, caller }) => await listProjects(sql, projectsOf(caller)),
  }),
  route({
    id: 'projects.create',
    method: 'post',
    path: '/projects',
    summary: 'Create a project with a default network and its firewall rules',
    access: { level: 'authenticated' },
    unpaid: true,
    body: CreateProject,
    reply: Project,
    handle: ({ deps, sql, caller, scope, body }) =>
      createProject({ sql, caller, callers: deps.callers, scope, body }),
  }),
  route({
    id: 'projects.get',
    method: 'get',
    path: '/projects/{project_id}',
    summary: 'Read a project',
    access: { level: 'project', role: 'read-only' },
    unpaid: true,
    params: ProjectParams,
    reply: Project,
    handle: async ({ sql, scope }) => found(await readProject(sql, scope.projectId), 'project'),
  }),
  route({
    id: 'projects.change',
    method: 'patch',
    path: '/projects/{project_id}',
    summary: 'Rename a project',
    access: { level: 'project', role: 'owner' },
    unpaid: true,
    params: ProjectParams,
    body: ChangeProject,
    reply: Project,
    handle: ({ sql, scope, body }) =>
      renameProject(sql, { projectId: scope.projectId, name: body.name }),
  }),
  route({
    id: 'projects.delete',
    method: 'delete',
    path: '/projects/{project_id}',
    summary: 'Delete a project that has no VMs and no disks, and everything else in it',
    access: { level: 'project', role: 'owner' },
    unpaid: true,
    changesAccess: true,
    params: ProjectParams,
    reply: Project,
    handle: ({ sql, scope }) => deleteProject(sql, scope.projectId),
  }),
  route({
    id: 'admin-projects.list',
    method: 'get',
    path: '/admin/projects',
    summary: 'List every project, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: z.strictObject(NamedListQuery),
    reply: ProjectPage,
    handle: async ({ sql, query }) =>
      page(await listAllProjects(sql, toIdListing(query)), query.limit, (row) => row),
  }),
  route({
    id: 'admin-projects.get',
    method: 'get',
    path: '/admin/projects/{project_id}',
    summary: 'Read a project of any organization',
    access: { level: 'operator', role: 'read-only' },
    params: ProjectParams,
    reply: Project,
    handle: async ({ sql, params }) => found(await readProject(sql, params.project_id), 'project'),
  }),
];

/** An owner sees every project of the organization; others see the projects they are members of. */
function projectsOf(caller: Caller): { projectIds: string[]; organizationIds: string[] } {
  if (caller.type === 'access_key') {
    return { projectIds: [caller.grant.project_id], organizationIds: [] };
  }
  const { memberships } = caller.grant;
  return {
    projectIds: memberships.flatMap(({ project_id }) => project_id ?? []),
    organizationIds: memberships.flatMap((m) => (m.project_id === null ? m.organization_id : [])),
  };
}
