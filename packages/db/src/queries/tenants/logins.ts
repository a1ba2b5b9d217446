import type { Queryable } from '../../connect.ts';

/** How long a source stays known after the last login from it. */
const KNOWN_DAYS = 90;

export type LoginRow = {
  id: string;
  email: string;
  password_hash: string;
  token_generation: number;
  known_source: boolean;
};

/** Finds the user by e-mail address or by id. */
export async function readLogin(
  sql: Queryable,
  { source, ...user }: { source: string } & ({ email: string } | { id: string }),
): Promise<LoginRow | undefined> {
  const named = 'email' in user ? sql`u.email = ${user.email}` : sql`u.id = ${user.id}`;
  const [row] = await sql<LoginRow[]>`
    select u.id, u.email, u.password_hash, u.token_generation::float8 as token_generation, exists (select from login_sources s
      where s.user_id = u.id and s.source = ${source}
        and s.last_login_at > now() - ${KNOWN_DAYS}::int * interval '1 day') as known_source
    from users u where ${named}`;
  return row;
}

export async function recordLoginSource(
  sql: Queryable,
  { userId, source }: { userId: string; source: string },
): Promise<void> {
  await sql`insert into login_sources (user_id, source, last_login_at) values (${userId}, ${source}, now())
    on conflict (user_id, source) do update set last_login_at = excluded.last_login_at`;
}

/** A leaky bucket: `burst` attempts at once, and `perHour` more in each hour. */
export type LoginBudget = { key: string; burst: number; perHour: number };

/** Takes one attempt. Returns false, and takes none, if the bucket is full. */
export async function claimLoginBudget(
  sql: Queryable,
  { key, burst, perHour }: LoginBudget,
): Promise<boolean> {
  const level = sql`greatest(0, b.level
    - extract(epoch from now() - b.updated_at) * ${perHour / 3600}::float8) + 1`;
  const rows = await sql`
    insert into login_budgets as b (key, level, updated_at) values (${key}, 1, now())
    on conflict (key) do update set level = ${level}, updated_at = now()
    where ${level} <= ${burst}::float8
    returning key`;
  return rows.length > 0;
}

export async function refundLoginBudget(sql: Queryable, key: string): Promise<void> {
  await sql`update login_budgets set level = greatest(0, level - 1) where key = ${key}`;
}
