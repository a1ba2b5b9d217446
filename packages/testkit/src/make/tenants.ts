import { newKey } from '@gantry/api/auth/keys';
import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { insertAccessKey } from '@gantry/db/queries/tenants/access-keys';
import {
  insertOrganization,
  insertOwner,
  insertPaymentMethod,
  insertProject,
} from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import type { OperatorRole } from '@gantry/model/states';
import type { TestApi } from '../api/test-api.ts';

export type TestTenant = {
  organizationId: string;
  projectId: string;
  /** A member's access key and a read-only one. */
  accessKey: string;
  readOnlyKey: string;
  owner: TestUser;
  member: TestUser;
  readOnly: TestUser;
};
export type TestUser = { id: string; email: string; token: string };

/** Creates a paid organization with a project, keys of two roles and users of three roles. */
export async function makeTenant(
  api: TestApi,
  name: string,
  { paid = true } = {},
): Promise<TestTenant> {
  const { sql } = api;
  const organizationId = newId();
  const projectId = newId();
  await sql.begin(async (tx) => {
    await insertOrganization(tx, {
      id: organizationId,
      name,
      payment_customer_id: `local_${organizationId}`,
    });
    if (paid)
      await insertPaymentMethod(tx, {
        organizationId,
        provider: 'local',
        details: { holder: name },
      });
    await insertProject(tx, { id: projectId, name: 'main', organization_id: organizationId });
  });
  const owner = await makeUser(api, `owner@${name}.test`);
  await insertOwner(sql, { id: newId(), organizationId, userId: owner.id });
  const member = await makeUser(api, `member@${name}.test`);
  const readOnly = await makeUser(api, `reader@${name}.test`);
  for (const [user, role] of [
    [member, 'member'],
    [readOnly, 'read-only'],
  ] as const) {
    await sql`insert into members (id, user_id, organization_id, project_id, role)
      values (${newId()}, ${user.id}, ${organizationId}, ${projectId}, ${role})`;
  }
  return {
    organizationId,
    projectId,
    owner,
    member,
    readOnly,
    accessKey: await makeAccessKey(api, projectId, 'member'),
    readOnlyKey: await makeAccessKey(api, projectId, 'read-only'),
  };
}

/** Creates a user with a valid token. The user cannot log in with a password. */
export async function makeUser(
  api: TestApi,
  email: string,
  { operator = false, operatorRole = 'admin' as OperatorRole } = {},
): Promise<TestUser> {
  const id = newId();
  await api.sql`insert into users (id, email, password_hash, operator, operator_role)
    values (${id}, ${email}, 'none', ${operator}, ${operatorRole})`;
  return { id, email, token: await api.deps.tokens.issue(id) };
}

export async function makeAccessKey(
  api: Pick<TestApi, 'sql'>,
  projectId: string,
  role: 'member' | 'read-only',
  createdBy: string | null = null,
): Promise<string> {
  const key = newKey('access_key');
  const id = newId();
  await insertAccessKey(api.sql, {
    id,
    projectId,
    name: `key-${id.slice(-12)}`,
    role,
    hash: sha256(key),
    createdAt: new Date(),
    expiresAt: null,
    createdBy,
    parentId: null,
  });
  return key;
}

export const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx test@example';

/** Creates an organization with one project and practically no quotas. Returns the project's id. */
export async function addProject(sql: Sql): Promise<string> {
  const organizationId = newId();
  const projectId = newId();
  await insertOrganization(sql, {
    id: organizationId,
    name: `o-${organizationId}`,
    payment_customer_id: organizationId,
  });
  await insertProject(sql, { id: projectId, name: 'main', organization_id: organizationId });
  await sql`update quotas set max = 10000000 where project_id = ${projectId}`;
  await sql`update organization_quotas set max = 10000000 where organization_id = ${organizationId}`;
  return projectId;
}
