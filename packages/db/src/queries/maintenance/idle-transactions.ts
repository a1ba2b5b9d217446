import type { Sql } from '../../connect.ts';

/**
 * Terminates Gantry's sessions that are stuck inside a transaction. Returns how many there were.
 * The limit that `transact` sets ends the session of a process that stops between two statements.
 * If a process stops while it sends a statement, the session is not idle for PostgreSQL, which
 * would wait for the rest of the statement and keep the locks for ever.
 */
export async function terminateIdleTransactions(
  sql: Sql,
  { afterMs }: { afterMs: number },
): Promise<number> {
  const ended = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user
      and application_name like 'gantry-%' and pid <> pg_backend_pid()
      and wait_event_type = 'Client' and wait_event = 'ClientRead'
      and xact_start < clock_timestamp() - ${afterMs} * interval '1 ms'
      and greatest(query_start, state_change) < clock_timestamp() - ${afterMs} * interval '1 ms'`;
  return ended.length;
}
