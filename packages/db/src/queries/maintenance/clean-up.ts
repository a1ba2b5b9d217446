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

export async function removeOldInvitations(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from invitations i using (
      select user_id from invitations where expires_at < now()
      order by expires_at limit ${limit} for update skip locked) old
    where i.user_id = old.user_id`;
  return count;
}

/** After an hour without an attempt a budget is as good as new, like one without a row. */
export async function removeOldLoginBudgets(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from login_budgets b using (
      select key from login_budgets where updated_at < now() - interval '1 hour'
      order by updated_at limit ${limit} for update skip locked) old
    where b.key = old.key`;
  return count;
}

/** A source is known for 90 days. */
export async function removeOldLoginSources(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from login_sources s using (
      select user_id, source from login_sources where last_login_at < now() - interval '90 days'
      order by last_login_at limit ${limit} for update skip locked) old
    where s.user_id = old.user_id and s.source = old.source`;
  return count;
}

/** Expired and used tokens are listed for operators until then. The audit log has who made them. */
export async function removeOldJoinTokens(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from join_tokens t using (
      select id from join_tokens where expires_at < now() - interval '90 days'
      order by expires_at limit ${limit} for update skip locked) old
    where t.id = old.id`;
  return count;
}

/** An expired certificate is refused before its row is read. */
export async function removeOldCertificates(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from host_certificates c using (
      select serial from host_certificates where not_after < now() - interval '30 days'
      order by not_after limit ${limit} for update skip locked) old
    where c.serial = old.serial`;
  return count;
}

/** The provider repeats an event for days at most. There are few of them, so no index is needed. */
export async function removeOldPaymentEvents(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from payment_events e using (
      select id from payment_events where created_at < now() - interval '90 days'
      order by created_at limit ${limit} for update skip locked) old
    where e.id = old.id`;
  return count;
}

/** Schedulers read new rows at once, and everything if they have not read for a while. */
export async function removeOldNetworkChanges(sql: Queryable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from network_changes c using (
      select network_id, xid from network_changes where created_at < now() - interval '1 hour'
      order by created_at limit ${limit} for update skip locked) old
    where c.network_id = old.network_id and c.xid = old.xid`;
  return count;
}
