import type { Queryable } from '@gantry/db/connect';
import {
  hasResources,
  readProject,
  removeProject,
  updateProjectName,
} from '@gantry/db/queries/tenants/projects';
import { insertProject, type ProjectRow } from '@gantry/db/queries/tenants/tenants';
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

/** Creates a project. The organization is in the body, so the caller's role is checked here. */
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
  // From here on the request is in the audit log of the organization, even if it is refused.
  scope.organizationId = organizationId;
  if (!roleReaches(role, 'owner'))
    throw new CloudError('forbidden', 'this request needs the role owner');
  const id = newId();
  await insertProject(sql, { id, name: body.name, organization_id: organizationId });
  const project = await readProject(sql, id);
  if (!project) throw new Error('BUG: the project that was just inserted is missing');
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

/** If a VM, a disk or a public address is created at the same time, its foreign key makes the deletion fail. */
export async function deleteProject(sql: Queryable, projectId: string): Promise<ProjectRow> {
  if (await hasResources(sql, projectId)) {
    throw new CloudError(
      'conflict',
      'the project has VMs, disks, snapshots, backups, images or public addresses: delete them first',
    );
  }
  const project = await removeProject(sql, projectId);
  if (!project) throw notFound('project');
  return project;
}
