import type { Sql } from '../connect.ts';

/**
 * Ends the sessions of ours that stand still inside a transaction, and answers how many. The limit
 * that `transact` sets catches a process that stops between two statements; a session whose process
 * stopped halfway through sending one is not idle to PostgreSQL, which would wait for the rest, and
 * keep its locks, for ever.
 */
export async function endStandstills(sql: Sql, { afterMs }: { afterMs: number }): Promise<number> {
  const ended = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user
      and application_name like 'gantry-%' and pid <> pg_backend_pid()
      and wait_event_type = 'Client' and wait_event = 'ClientRead'
      and xact_start < clock_timestamp() - ${afterMs} * interval '1 ms'
      and greatest(query_start, state_change) < clock_timestamp() - ${afterMs} * interval '1 ms'`;
  return ended.length;
}
