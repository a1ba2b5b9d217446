import type { OperatorRole } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';

export type NewUser = { id: string; email: string; passwordHash: string };

/** Creates the operator, or gives the user with this e-mail the password and the role. */
export async function ensureOperator(sql: Queryable, user: NewUser): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into users (id, email, password_hash, operator) values (${user.id}, ${user.email}, ${user.passwordHash}, true)
    on conflict (email) do update
      set password_hash = excluded.password_hash, operator = true, operator_role = 'admin', pending = false
    returning id`;
  if (!row) throw new Error('BUG: an upsert returns its row');
  return row.id;
}

export type UserRow = {
  id: string;
  email: string;
  operator: boolean;
  operator_role: OperatorRole;
  pending: boolean;
  created_at: Date;
};

const columns = (sql: Queryable) => sql`id, email, operator, operator_role, pending, created_at`;

export async function listUsers(sql: Queryable, listing: IdListing): Promise<UserRow[]> {
  return await sql<UserRow[]>`
    select ${columns(sql)} from users
    where ${listedByIds(sql, listing)} ${idOrder(sql, listing)}`;
}

/**
 * Returns the user with this e-mail address, or makes a pending one. Both cases write a row, so that
 * the time does not show whether the user exists.
 */
export async function ensureUser(
  sql: Queryable,
  { id, email }: { id: string; email: string },
): Promise<{ id: string }> {
  const [row] = await sql<{ id: string }[]>`
    insert into users (id, email, password_hash, pending) values (${id}, ${email}, '', true)
    on conflict (email) do update set email = excluded.email returning id`;
  if (!row) throw new Error('BUG: an upsert returns its row');
  return row;
}

export type CreatedUser = Omit<UserRow, 'pending'> & { passwordHash: string };

/** A pending user with this e-mail address keeps its id. Returns undefined for any other user. */
export async function insertUser(sql: Queryable, user: CreatedUser): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    insert into users as u (id, email, password_hash, operator, operator_role, created_at)
    values (${user.id}, ${user.email}, ${user.passwordHash}, ${user.operator}, ${user.operator_role},
      ${user.created_at})
    on conflict (email) do update set password_hash = excluded.password_hash,
      operator = excluded.operator, operator_role = excluded.operator_role, created_at = excluded.created_at, pending = false
    where u.pending
    returning ${columns(sql)}`;
  return row;
}

export type UserChange = {
  userId: string;
  passwordHash?: string | undefined;
  operator?: boolean | undefined;
  operatorRole?: OperatorRole | undefined;
};

/** What is undefined stays unchanged. A user with a password is not pending. */
export async function updateUser(sql: Queryable, change: UserChange): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    update users set password_hash = coalesce(${change.passwordHash ?? null}::text, password_hash),
      pending = pending and ${change.passwordHash ?? null}::text is null,
      operator = coalesce(${change.operator ?? null}::boolean, operator),
      operator_role = coalesce(${change.operatorRole ?? null}::text, operator_role)
    where id = ${change.userId} returning ${columns(sql)}`;
  return row;
}

/** Ends all logins of the user, and all access tokens. */
export async function endLogins(sql: Queryable, userId: string): Promise<void> {
  // The user comes first: it waits for logins that have begun, and the next statement ends them, too.
  await sql`update users set token_generation = token_generation + 1 where id = ${userId}`;
  await sql`update refresh_tokens set revoked_at = now()
    where user_id = ${userId} and revoked_at is null`;
}

export async function readUser(sql: Queryable, userId: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from users where id = ${userId}`;
  return row;
}

/** Refresh tokens and memberships are removed too. */
export async function removeUser(sql: Queryable, userId: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    delete from users where id = ${userId} returning ${columns(sql)}`;
  return row;
}
