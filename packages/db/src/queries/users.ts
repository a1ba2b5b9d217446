import type { Queryable } from '../connect.ts';

export type NewUser = { id: string; email: string; passwordHash: string };

/** The operator with this e-mail and password, whether or not there was a user of that e-mail. */
export async function ensureOperator(sql: Queryable, user: NewUser): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into users (id, email, password_hash, operator) values (${user.id}, ${user.email}, ${user.passwordHash}, true)
    on conflict (email) do update set password_hash = excluded.password_hash, operator = true
    returning id`;
  if (!row) throw new Error('BUG: an upsert returns its row');
  return row.id;
}
