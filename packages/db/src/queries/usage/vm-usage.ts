import type { Queryable } from '../../connect.ts';

export type VmUsageRow = {
  vm_seconds: number;
  vm_cost_usd: number;
  os_disk_gb_hours: number;
  os_disk_cost_usd: number;
  /** False if a part of it had no price. */
  priced: boolean;
  until: Date;
};

/**
 * Reads what a VM and its OS disk have cost until now; undefined if the project has no such VM. Only their own
 * intervals are read. An interval is divided into days, because each closed day has its own prices; a day that is not
 * closed counts at the current price. Intervals that ended before `installation.metered_since` are removed, so they
 * are not included.
 */
export async function readVmUsage(
  sql: Queryable,
  { projectId, vmId }: { projectId: string; vmId: string },
): Promise<VmUsageRow | undefined> {
  const [row] = await sql<VmUsageRow[]>`
    select now() as until,
      coalesce(sum(u.unit_seconds) filter (where u.is_vm), 0)::float8 as vm_seconds,
      round(coalesce(sum(u.unit_seconds * u.usd_per_hour) filter (where u.is_vm), 0) / 3600, 8)::float8 as vm_cost_usd,
      round(coalesce(sum(u.unit_seconds) filter (where not u.is_vm), 0) / 3600, 6)::float8 as os_disk_gb_hours,
      round(coalesce(sum(u.unit_seconds * u.usd_per_hour) filter (where not u.is_vm), 0) / 3600, 8)::float8
        as os_disk_cost_usd,
      coalesce(bool_and(u.usd_per_hour is not null), true) as priced
    from vms v left join lateral (
      select i.resource_id = v.id as is_vm,
        i.units * extract(epoch from least(i.ended_at, day.until, now()) - greatest(i.started_at, day.since)) as unit_seconds,
        case when c.date is null then p.usd_per_hour else cp.usd_per_hour end as usd_per_hour
      from meter_intervals i
        cross join lateral (
          select at::date as date, at at time zone 'utc' as since, (at + interval '1 day') at time zone 'utc' as until
          from generate_series(date_trunc('day', i.started_at at time zone 'utc'),
            coalesce(i.ended_at, now()) at time zone 'utc', interval '1 day') at) day
        left join closed_days c on c.date = day.date
        left join closed_prices cp on cp.date = day.date and cp.resource_type = i.resource_type
        left join prices p on p.resource_type = i.resource_type
      where i.resource_id = any(array(select v.id union all
          select a.disk_id from disk_attachments a where a.vm_id = v.id and a.attachment_type = 'os'))
        and least(i.ended_at, day.until, now()) > greatest(i.started_at, day.since)) u on true
    where v.project_id = ${projectId} and v.id = ${vmId}
    group by v.id`;
  return row;
}
