import type { Queryable } from '@gantry/db/connect';
import {
  countMembers,
  countOwners,
  insertMember,
  type MemberKey,
  type MemberRow,
  readMember,
  removeMember,
} from '@gantry/db/queries/tenants/members';
import { lockOrganization } from '@gantry/db/queries/tenants/organizations';
import { readProject } from '@gantry/db/queries/tenants/projects';
import { ensureUser } from '@gantry/db/queries/tenants/users';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import type { CreateMember } from './schema.ts';

type Addition = {
  sql: Queryable;
  organizationId: string;
  body: z.output<typeof CreateMember>;
  now: Date;
};

/** Much more than an organization needs, and few enough that pending users do not fill the table. */
const MOST_MEMBERS = 1_000;

/**
 * Gives a user a role in the organization. An e-mail address without a user gets a pending one, and
 * the same reply, so that owners cannot find out who has an account. The role has an effect after an
 * operator has created the user.
 */
export async function addMember({ sql, organizationId, body, now }: Addition): Promise<MemberRow> {
  const { email, role, project_id: projectId } = body;
  if (projectId !== undefined) {
    const project = await readProject(sql, projectId);
    if (project?.organization_id !== organizationId) {
      throw badRequest([{ field: 'project_id', reason: 'is not a project of this organization' }]);
    }
  }
  if ((await countMembers(sql, organizationId)) >= MOST_MEMBERS) {
    throw new CloudError(
      'conflict',
      `the organization has ${MOST_MEMBERS} members, which is the most: remove one first`,
    );
  }
  const user = await ensureUser(sql, { id: newId(now.getTime()), email });
  const member = {
    id: newId(now.getTime()),
    user_id: user.id,
    email,
    role,
    project_id: projectId ?? null,
    created_at: now,
  };
  await insertMember(sql, { ...member, organization_id: organizationId });
  return member;
}

/** Locks the organization, so that two concurrent removals cannot remove its last two owners. */
export async function deleteMember(sql: Queryable, key: MemberKey): Promise<MemberRow> {
  await lockOrganization(sql, key.organizationId);
  const member = await readMember(sql, key);
  if (!member) throw notFound('member');
  if (member.role === 'owner' && (await countOwners(sql, key.organizationId)) === 1) {
    throw new CloudError(
      'conflict',
      'the member is the last owner of the organization: add another owner first',
    );
  }
  await removeMember(sql, { ...key, userId: member.user_id });
  return member;
}
