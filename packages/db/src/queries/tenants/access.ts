import type { OperatorRole, Role } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

/** Reads for authentication and authorization. Each is a few lookups in indexes. */

export type AccessKeyGrant = {
  id: string;
  name: string;
  role: 'member' | 'read-only';
  project_id: string;
  organization_id: string;
  expires_at: Date | null;
  created_by: string | null;
  paid: boolean;
};

/**
 * Returns what a key may do now. A key has at most the role that its creator has in the project, and
 * none if its creator has none.
 */
export async function readAccessKeyGrant(
  sql: Queryable,
  hash: string,
): Promise<AccessKeyGrant | undefined> {
  const [row] = await readAccessKeyGrants(sql, [hash]);
  return row;
}

/** Returns what several keys may do now, with the hash of each. */
export async function readAccessKeyGrants(
  sql: Queryable,
  hashes: readonly string[],
): Promise<(AccessKeyGrant & { hash: string })[]> {
  return await sql<(AccessKeyGrant & { hash: string })[]>`
    select k.hash, k.id, k.name, case when creator.may_write then k.role else 'read-only' end as role,
      k.project_id, p.organization_id, k.expires_at, k.created_by, m.organization_id is not null as paid
    from access_keys k
    join projects p on p.id = k.project_id
    left join payment_methods m on m.organization_id = p.organization_id
    left join users u on u.id = k.created_by
    cross join lateral (
      select k.created_by is null or u.operator or count(*) > 0 as may_read,
        k.created_by is null or (u.operator and u.operator_role <> 'read-only') or count(*) filter (where c.role <> 'read-only') > 0 as may_write
      from members c where c.user_id = k.created_by and c.organization_id = p.organization_id
        and (c.project_id is null or c.project_id = k.project_id)) creator
    where k.hash = any(${[...hashes]}::text[]) and creator.may_read`;
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
export type UserGrant = {
  id: string;
  email: string;
  operator: boolean;
  operator_role: OperatorRole;
  token_generation: number;
  /** The logins that were ended lately, whose access tokens may not have expired yet. */
  ended_logins: string[];
  memberships: Membership[];
};

/** Longer than an access token is valid, whatever the clocks are. */
const LONGEST_TOKEN_S = 7_200;

export async function readUserGrant(
  sql: Queryable,
  userId: string,
): Promise<UserGrant | undefined> {
  const [row] = await readUserGrants(sql, [userId]);
  return row;
}

export async function readUserGrants(
  sql: Queryable,
  userIds: readonly string[],
): Promise<UserGrant[]> {
  return await sql<UserGrant[]>`
    select u.id, u.email, u.operator, u.operator_role, u.token_generation::float8 as token_generation, coalesce((
      select json_agg(json_build_object('organization_id', m.organization_id, 'project_id', m.project_id,
        'role', m.role, 'paid', pm.organization_id is not null))
      from members m left join payment_methods pm on pm.organization_id = m.organization_id
      where m.user_id = u.id), '[]') as memberships,
      array(select distinct t.family_id::text from refresh_tokens t
        where t.user_id = u.id and t.login_ended_at > now() - make_interval(secs => ${LONGEST_TOKEN_S})) as ended_logins
    from users u where u.id = any(${[...userIds]}::uuid[])`;
}

export type OrganizationScope = { organization_id: string; paid: boolean };

export async function readProjectScope(
  sql: Queryable,
  projectId: string,
): Promise<OrganizationScope | undefined> {
  const [row] = await readProjectScopes(sql, [projectId]);
  return row;
}

export async function readProjectScopes(
  sql: Queryable,
  projectIds: readonly string[],
): Promise<(OrganizationScope & { project_id: string })[]> {
  return await sql<(OrganizationScope & { project_id: string })[]>`
    select p.id as project_id, p.organization_id, m.organization_id is not null as paid
    from projects p left join payment_methods m on m.organization_id = p.organization_id
    where p.id = any(${[...projectIds]}::uuid[])`;
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
