import type { Queryable } from '../../connect.ts';
import { LAST_ID } from '../page-bounds.ts';

export type JoinTokenRow = {
  id: string;
  location: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
};

export type NewJoinToken = Omit<JoinTokenRow, 'used_at'> & { hash: string; createdBy: string };

export async function insertJoinToken(sql: Queryable, token: NewJoinToken): Promise<void> {
  await sql`insert into join_tokens (id, hash, location, created_by, created_at, expires_at)
    values (${token.id}, ${token.hash}, ${token.location}, ${token.createdBy}, ${token.created_at},
      ${token.expires_at})`;
}

/** Lists the newest first; `before` is the last id of the previous page. */
export async function listJoinTokens(
  sql: Queryable,
  { before, limit }: { before: string | null; limit: number },
): Promise<JoinTokenRow[]> {
  return await sql<JoinTokenRow[]>`
    select id, location, created_at, expires_at, used_at from join_tokens
    where id < ${before ?? LAST_ID}
    order by id desc limit ${limit}`;
}

/** A token that a host uses at the same moment is not removed. */
export async function removeUnusedJoinToken(
  sql: Queryable,
  joinTokenId: string,
): Promise<JoinTokenRow | undefined> {
  const [row] = await sql<JoinTokenRow[]>`
    delete from join_tokens where id = ${joinTokenId} and used_at is null
    returning id, location, created_at, expires_at, used_at`;
  return row;
}

export async function isJoinToken(sql: Queryable, joinTokenId: string): Promise<boolean> {
  const rows = await sql`select from join_tokens where id = ${joinTokenId}`;
  return rows.length > 0;
}
