import type { Queryable } from '../../connect.ts';

export type MemberRole = 'owner' | 'member' | 'read-only';

export type MemberRow = {
  id: string;
  user_id: string;
  email: string;
  role: MemberRole;
  project_id: string | null;
  created_at: Date;
};

const selectMember = (sql: Queryable) => sql`
  select m.id, m.user_id, u.email, m.role, m.project_id, m.created_at
  from members m join users u on u.id = m.user_id`;

export async function listMembers(sql: Queryable, organizationId: string): Promise<MemberRow[]> {
  return await sql<MemberRow[]>`
    ${selectMember(sql)} where m.organization_id = ${organizationId} order by m.id`;
}

export type MemberKey = { organizationId: string; memberId: string };

export async function readMember(
  sql: Queryable,
  { organizationId, memberId }: MemberKey,
): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    ${selectMember(sql)} where m.organization_id = ${organizationId} and m.id = ${memberId}`;
  return row;
}

export async function countOwners(sql: Queryable, organizationId: string): Promise<number> {
  const [row] = await sql<{ owners: number }[]>`
    select count(*)::int as owners from members
    where organization_id = ${organizationId} and role = 'owner'`;
  return row?.owners ?? 0;
}

export async function insertMember(
  sql: Queryable,
  member: Omit<MemberRow, 'email'> & { organization_id: string },
): Promise<void> {
  await sql`insert into members (id, user_id, organization_id, project_id, role, created_at)
    values (${member.id}, ${member.user_id}, ${member.organization_id}, ${member.project_id},
      ${member.role}, ${member.created_at})`;
}

export async function countMembers(sql: Queryable, organizationId: string): Promise<number> {
  const [row] = await sql<{ members: number }[]>`
    select count(*)::int as members from members where organization_id = ${organizationId}`;
  return row?.members ?? 0;
}

/** Removes the member, and the user too if it is pending and has no other role. */
export async function removeMember(
  sql: Queryable,
  { organizationId, memberId, userId }: MemberKey & { userId: string },
): Promise<void> {
  await sql`delete from members where organization_id = ${organizationId} and id = ${memberId}`;
  await sql`delete from users u where u.pending and u.id = ${userId}
    and not exists (select from members m where m.user_id = u.id)`;
}
