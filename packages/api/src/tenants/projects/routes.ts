import { listProjects } from '@gantry/db/queries/projects';
import type { Caller } from '../../auth/caller.ts';
import { ProjectParams } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { createProject, deleteProject, renameProject } from './change.ts';
import { ChangeProject, CreateProject, Project, Projects } from './schema.ts';

export const projectRoutes = [
  route({
    id: 'projects.list',
    method: 'get',
    path: '/projects',
    summary: 'The projects the caller may use',
    access: { level: 'authenticated' },
    unpaid: true,
    reply: Projects,
    handle: async ({ sql, caller }) => await listProjects(sql, projectsOf(caller)),
  }),
  route({
    id: 'projects.create',
    method: 'post',
    path: '/projects',
    summary: 'Create a project with its default network and rules',
    access: { level: 'authenticated' },
    unpaid: true,
    body: CreateProject,
    reply: Project,
    handle: ({ deps, sql, caller, scope, body }) =>
      createProject({ sql, caller, callers: deps.callers, scope, body }),
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
    summary: 'Delete a project that has no VMs and no disks, with all else it has',
    access: { level: 'project', role: 'owner' },
    unpaid: true,
    changesAccess: true,
    params: ProjectParams,
    reply: Project,
    handle: ({ sql, scope }) => deleteProject(sql, scope.projectId),
  }),
];

/** An owner has every project of the organization, the others have the ones they were added to. */
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
