import type { Processes } from '@gantry/testkit/processes/start-processes';

/**
 * Stops the transactions of schedulers before they commit a write to one of the tables, once for each table and kind of
 * write. A trigger waits for a lock that the test holds.
 */
export type Gate = {
  /** Returns the point at which a scheduler waits now, such as `disks UPDATE`; null if none does. */
  reached(): Promise<string | null>;
  /** Ends the transaction that waits there. No other one stops at this point. */
  pass(point: string): Promise<void>;
  passed(): string[];
  close(): Promise<void>;
};

const LOCK = 470_011;
const PREFIX = 'waits at ';

export async function installGate(sql: Processes['sql'], tables: readonly string[]): Promise<Gate> {
  await sql`create table passed_gates (point text primary key)`;
  await sql.unsafe(`create function wait_at_gate() returns trigger language plpgsql as $$
    declare
      before text := current_setting('application_name');
      here text := tg_table_name || ' ' || tg_op;
    begin
      if before <> 'gantry-scheduler' or exists (select from passed_gates where point = here) then
        return null;
      end if;
      perform set_config('application_name', '${PREFIX}' || here, false);
      perform pg_advisory_xact_lock_shared(${LOCK});
      perform set_config('application_name', before, false);
      return null;
    end $$`);
  for (const table of tables)
    await sql.unsafe(`create trigger wait_at_gate after insert or update or delete on ${table}
      for each row execute function wait_at_gate()`);
  const held = await sql.reserve();
  await held`select pg_advisory_lock(${LOCK})`;
  const passed: string[] = [];
  return {
    async reached() {
      const [waiting] = await sql<
        { name: string }[]
      >`select application_name as name from pg_stat_activity
        where wait_event = 'advisory' and application_name like ${`${PREFIX}%`} limit 1`;
      return waiting?.name.slice(PREFIX.length) ?? null;
    },
    async pass(point) {
      passed.push(point);
      await sql`insert into passed_gates values (${point})`;
      // Their process was killed, but a server that waits for a lock does not notice.
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like ${`${PREFIX}%`}`;
    },
    passed: () => [...passed],
    async close() {
      await held`select pg_advisory_unlock(${LOCK})`;
      held.release();
    },
  };
}
