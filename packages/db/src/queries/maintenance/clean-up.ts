import type { Queryable } from '../../connect.ts';

/**
 * Removes expired rows in batches, so that each transaction is short and holds few locks. Each
 * function returns how many rows it removed; fewer than the limit means that none are left.
 */

/** After 24 hours a key may be used for another request. */
export async function removeOldIdempotencyKeys(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency_keys k using (
      select actor_id, key from idempotency_keys
      where created_at < now() - interval '24 hours'
      order by created_at limit ${limit} for update skip locked) old
    where k.actor_id = old.actor_id and k.key = old.key`;
  return count;
}

/** A used token is kept for a while, because only its row shows that a second use is a theft. */
export async function removeOldRefreshTokens(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from refresh_tokens t using (
      select hash from refresh_tokens
      where expires_at < now() - interval '7 days'
      order by expires_at limit ${limit} for update skip locked) old
    where t.hash = old.hash`;
  return count;
}

export async function removeOldConsoleTickets(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from console_tickets t using (
      select hash from console_tickets where expires_at < now()
      order by expires_at limit ${limit} for update skip locked) old
    where t.hash = old.hash`;
  return count;
}
