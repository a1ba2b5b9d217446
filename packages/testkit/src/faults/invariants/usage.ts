import type postgres from 'postgres';

/** Makes the database record each state that tenants see of a VM, independently of the meter. */
export async function watchRunningTime(sql: postgres.Sql): Promise<void> {
  await sql`create table vm_states (seq bigserial, vm_id uuid, state text, at timestamptz)`;
  await sql`create index on vm_states (vm_id, seq)`;
  await sql`create function note_vm_state() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' or new.state is distinct from old.state then
        insert into vm_states (vm_id, state, at) values (new.id, new.state, now());
      end if;
      return null;
    end $$`;
  await sql`create trigger vm_states_noted after insert or update on vms
    for each row execute function note_vm_state()`;
}

/**
 * Compares the metered time of each VM with the time for which tenants saw it RUNNING. A difference
 * of a second or more is wrong. The time between the last contact with a host and the moment when it
 * was given up belongs to the metered time, also if it is not charged because nothing proved it.
 */
export async function wrongUsage(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ vm_id: string; metered: number; running: number }[]>`
    with moments as (select vm_id, state, at,
        coalesce(lead(at) over (partition by vm_id order by seq), now()) as until from vm_states),
      running as (select vm_id, sum(extract(epoch from greatest(until, at) - at)) as seconds from moments
        where state = 'STATE_RUNNING' group by 1),
      metered as (select resource_id as vm_id, sum(extract(epoch from coalesce(given_up_at, ended_at, now()) - started_at)) as seconds
        from meter_intervals where billable_metric = 'vm_seconds' group by 1)
    select coalesce(r.vm_id, m.vm_id) as vm_id, coalesce(m.seconds, 0)::float8 as metered,
      coalesce(r.seconds, 0)::float8 as running
    from running r full join metered m on m.vm_id = r.vm_id
    where abs(coalesce(m.seconds, 0) - coalesce(r.seconds, 0)) >= 1`;
  return rows.map(
    ({ vm_id, metered, running }) =>
      `VM ${vm_id} was running for ${running.toFixed(1)} s and is metered for ${metered.toFixed(1)} s`,
  );
}
