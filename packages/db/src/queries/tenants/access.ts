import type { Role } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

/** Reads for authentication and authorization. Each is one lookup in an index. */

export type AccessKeyGrant = {
  id: string;
  name: string;
  role: 'member' | 'read-only';
  project_id: string;
  organization_id: string;
  expires_at: Date | null;
  paid: boolean;
};

export async function readAccessKeyGrant(
  sql: Queryable,
  hash: string,
): Promise<AccessKeyGrant | undefined> {
  const [row] = await sql<AccessKeyGrant[]>`
    select k.id, k.name, k.role, k.project_id, p.organization_id, k.expires_at, m.organization_id is not null as paid
    from access_keys k
    join projects p on p.id = k.project_id
    left join payment_methods m on m.organization_id = p.organization_id
    where k.hash = ${hash}`;
  return row;
}

/** Reads the grant of a key that was authenticated before. */
export async function readKnownKeyGrant(
  sql: Queryable,
  keyId: string,
): Promise<AccessKeyGrant | undefined> {
  const [key] = await sql<{ hash: string }[]>`select hash from access_keys where id = ${keyId}`;
  return key && (await readAccessKeyGrant(sql, key.hash));
}

export type Membership = {
  organization_id: string;
  project_id: string | null;
  role: Exclude<Role, 'operator'>;
  paid: boolean;
};
export type UserGrant = { id: string; email: string; operator: boolean; memberships: Membership[] };

export async function readUserGrant(
  sql: Queryable,
  userId: string,
): Promise<UserGrant | undefined> {
  const [row] = await sql<UserGrant[]>`
    select u.id, u.email, u.operator, coalesce((
      select json_agg(json_build_object('organization_id', m.organization_id, 'project_id', m.project_id,
        'role', m.role, 'paid', pm.organization_id is not null))
      from members m left join payment_methods pm on pm.organization_id = m.organization_id
      where m.user_id = u.id), '[]') as memberships
    from users u where u.id = ${userId}`;
  return row;
}

export type OrganizationScope = { organization_id: string; paid: boolean };

export async function readProjectScope(
  sql: Queryable,
  projectId: string,
): Promise<OrganizationScope | undefined> {
  const [row] = await sql<OrganizationScope[]>`
    select p.organization_id, m.organization_id is not null as paid
    from projects p left join payment_methods m on m.organization_id = p.organization_id
    where p.id = ${projectId}`;
  return row;
}

export async function readOrganizationScope(
  sql: Queryable,
  organizationId: string,
): Promise<OrganizationScope | undefined> {
  const [row] = await sql<OrganizationScope[]>`
    select o.id as organization_id, m.organization_id is not null as paid
    from organizations o left join payment_methods m on m.organization_id = o.id
    where o.id = ${organizationId}`;
  return row;
}
