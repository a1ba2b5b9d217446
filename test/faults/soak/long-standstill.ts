import type { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';

/** A standstill longer than this is described while it lasts. */
export const LONG_STANDSTILL_MS = 10_000;
const LOG_CHARACTERS = 3_000;

/** Returns what the database does and what each process logged last. */
export async function describeStandstill({ sql, members }: FaultyCloud): Promise<string> {
  const statements = await sql`
    select pid, application_name, state, wait_event_type, wait_event, pg_blocking_pids(pid) blockers,
      now() - xact_start as transaction_for, left(query, 200) as query
    from pg_stat_activity where datname = current_database() and state <> 'idle'`;
  const leases = await sql`select location, holder, expires_at - now() as left from leases`;
  const hosts = await sql`select id, state, scheduler_id from hosts`;
  const operations = await sql`
    select name, min(now() - recorded_at) as youngest, max(now() - recorded_at) as oldest, count(*)
    from operations where state = 'IN_PROGRESS' group by name`;
  const logs = members.map(
    ({ name, process }) => `${name}: ${process.log().slice(-LOG_CHARACTERS)}`,
  );
  return [JSON.stringify({ statements, leases, hosts, operations }, null, 1), ...logs].join('\n');
}
