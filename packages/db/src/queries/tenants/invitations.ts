import type { Queryable } from '../../connect.ts';

export type NewInvitation = {
  userId: string;
  hash: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
};

/** Replaces an earlier invitation of the user. */
export async function insertInvitation(sql: Queryable, made: NewInvitation): Promise<void> {
  await sql`insert into invitations (user_id, hash, created_by, created_at, expires_at)
    values (${made.userId}, ${made.hash}, ${made.createdBy}, ${made.createdAt}, ${made.expiresAt})
    on conflict (user_id) do update set hash = excluded.hash, created_by = excluded.created_by,
      created_at = excluded.created_at, expires_at = excluded.expires_at`;
}

export type InvitedUser = { id: string; email: string };

/** Returns the user of an invitation that can be accepted. */
export async function readInvitedUser(
  sql: Queryable,
  hash: string,
): Promise<InvitedUser | undefined> {
  const [row] = await sql<InvitedUser[]>`
    select u.id, u.email from invitations i join users u on u.id = i.user_id
    where i.hash = ${hash} and i.expires_at > now()`;
  return row;
}

/** Uses an invitation up. If it is used twice at once, exactly one call returns true. */
export async function claimInvitation(sql: Queryable, hash: string): Promise<boolean> {
  const rows = await sql`
    delete from invitations where hash = ${hash} and expires_at > now() returning user_id`;
  return rows.length > 0;
}
