import type { Queryable } from '@gantry/db/connect';
import {
  hasVmsOrDisks,
  readProject,
  removeProject,
  updateProjectName,
} from '@gantry/db/queries/projects';
import { insertProject, type ProjectRow } from '@gantry/db/queries/tenants';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { roleReaches } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { organizationRole, type Scope } from '../../auth/authorize.ts';
import type { Caller, Callers } from '../../auth/caller.ts';
import type { CreateProject } from './schema.ts';

type Creation = {
  sql: Queryable;
  caller: Caller;
  callers: Callers;
  scope: Scope;
  body: z.output<typeof CreateProject>;
};

/** The organization is in the body, so whether the caller owns it is asked here. */
export async function createProject({
  sql,
  caller,
  callers,
  scope,
  body,
}: Creation): Promise<ProjectRow> {
  const organizationId = body.organization_id;
  const role = organizationRole(caller, organizationId);
  if (!role || !(await callers.organizationScope(organizationId))) throw notFound('organization');
  // From here on it is the organization's business: its audit log tells of it, refused or not.
  scope.organizationId = organizationId;
  if (!roleReaches(role, 'owner')) throw new CloudError('forbidden', 'this needs the role owner');
  const id = newId();
  await insertProject(sql, { id, name: body.name, organization_id: organizationId });
  const project = await readProject(sql, id);
  if (!project) throw new Error('BUG: an inserted project can be read');
  return project;
}

export async function renameProject(
  sql: Queryable,
  change: { projectId: string; name: string },
): Promise<ProjectRow> {
  const project = await updateProjectName(sql, change);
  if (!project) throw notFound('project');
  return project;
}

/** A VM or disk created meanwhile refers to the project, and the database refuses in its place. */
export async function deleteProject(sql: Queryable, projectId: string): Promise<ProjectRow> {
  if (await hasVmsOrDisks(sql, projectId)) {
    throw new CloudError('conflict', 'the project has VMs or disks: delete them first');
  }
  const project = await removeProject(sql, projectId);
  if (!project) throw notFound('project');
  return project;
}
