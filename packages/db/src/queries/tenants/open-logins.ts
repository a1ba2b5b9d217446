import type { Queryable } from '../../connect.ts';
import { beyond, direction, type PageBounds } from '../page-bounds.ts';

export type OpenLoginRow = {
  id: string;
  created_at: Date;
  last_used_at: Date;
  expires_at: Date;
  source_ip: string;
  user_agent: string;
};

type OpenLoginFilter = PageBounds & {
  userId: string;
  ids: string[] | null;
  limit: number;
};

/** Lists the logins of a user that a refresh token can continue, oldest first. */
export async function listOpenLogins(
  sql: Queryable,
  { userId, ids, limit, ...page }: OpenLoginFilter,
): Promise<OpenLoginRow[]> {
  return await sql<OpenLoginRow[]>`
    select t.family_id as id, t.created_at as last_used_at, t.expires_at, t.source_ip, t.user_agent,
      (select min(f.created_at) from refresh_tokens f where f.family_id = t.family_id) as created_at
    from refresh_tokens t
    where t.user_id = ${userId} and t.used_at is null and t.revoked_at is null and t.expires_at > now()
      and t.family_id ${beyond(sql, page)} ${ids === null ? sql`` : sql`and t.family_id = any(${ids}::uuid[])`}
    order by t.family_id ${direction(sql, page)} limit ${limit}`;
}

/** Ends one login: its refresh token, and its access tokens as soon as the grant of the user is read again. */
export async function endLogin(
  sql: Queryable,
  { userId, loginId }: { userId: string; loginId: string },
): Promise<void> {
  // The lock waits for a refresh that has begun, and the next statement revokes its token, too.
  await sql`select from users where id = ${userId} for no key update`;
  await sql`update refresh_tokens set revoked_at = coalesce(revoked_at, now()), login_ended_at = now()
    where user_id = ${userId} and family_id = ${loginId} and login_ended_at is null`;
}
