import type { Queryable } from '../../connect.ts';
import { FIRST_ID } from '../page-bounds.ts';

export type NewUser = { id: string; email: string; passwordHash: string };

/** Creates the operator, or gives the user with this e-mail the password and the role. */
export async function ensureOperator(sql: Queryable, user: NewUser): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into users (id, email, password_hash, operator) values (${user.id}, ${user.email}, ${user.passwordHash}, true)
    on conflict (email) do update set password_hash = excluded.password_hash, operator = true
    returning id`;
  if (!row) throw new Error('BUG: an upsert returns its row');
  return row.id;
}

export type UserRow = { id: string; email: string; operator: boolean; created_at: Date };

export async function listUsers(
  sql: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<UserRow[]> {
  return await sql<UserRow[]>`
    select id, email, operator, created_at from users
    where id > ${after ?? FIRST_ID}
    order by id limit ${limit}`;
}

export async function findUser(sql: Queryable, email: string): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from users where email = ${email}`;
  return row;
}

export async function insertUser(
  sql: Queryable,
  user: UserRow & { passwordHash: string },
): Promise<void> {
  await sql`insert into users (id, email, password_hash, operator, created_at)
    values (${user.id}, ${user.email}, ${user.passwordHash}, ${user.operator}, ${user.created_at})`;
}

/** Null leaves a column unchanged. */
export async function updateUser(
  sql: Queryable,
  change: { userId: string; passwordHash: string | null; operator: boolean | null },
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    update users set password_hash = coalesce(${change.passwordHash}::text, password_hash),
      operator = coalesce(${change.operator}::boolean, operator)
    where id = ${change.userId} returning id, email, operator, created_at`;
  return row;
}

/** Ends all logins of the user; access tokens stay valid until they expire. */
export async function revokeLogins(sql: Queryable, userId: string): Promise<void> {
  await sql`update refresh_tokens set revoked_at = now()
    where user_id = ${userId} and revoked_at is null`;
}

/** Refresh tokens and memberships are removed too. */
export async function removeUser(sql: Queryable, userId: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    delete from users where id = ${userId} returning id, email, operator, created_at`;
  return row;
}
