import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';

/**
 * Records what is in use, and since when. The functions are idempotent: a unique index allows one
 * open interval per resource. A change of what a resource counts as (a VM's type, a disk's size)
 * closes the interval and opens another at the same moment.
 *
 * Every moment is the start of the transaction by the database's clock, so that the clocks of
 * several schedulers and api processes cannot lengthen or shorten what a tenant pays for. Tests may
 * give another moment.
 */
export type Metered =
  | { metric: 'vm_seconds'; vmType: string }
  | { metric: 'gb_hours'; diskType: string; sizeGb: number };

export type NewInterval = {
  organizationId: string;
  projectId: string;
  resourceId: string;
  region: string;
  startedAt?: Date;
  metered: Metered;
};

/** Opens an interval, unless the resource has an open one. */
export async function openInterval(sql: Queryable, interval: NewInterval): Promise<void> {
  const { metered } = interval;
  const [resourceType, units] =
    metered.metric === 'vm_seconds' ? [metered.vmType, 1] : [metered.diskType, metered.sizeGb];
  await sql`insert into meter_intervals
    (id, organization_id, project_id, resource_id, resource_type, billable_metric, units, region, started_at)
    values (${newId()}, ${interval.organizationId}, ${interval.projectId}, ${interval.resourceId}, ${resourceType},
      ${metered.metric}, ${units}, ${interval.region}, coalesce(${interval.startedAt ?? null}::timestamptz, now()))
    on conflict (resource_id) where ended_at is null do nothing`;
}

/**
 * Closes the open interval of the resource, if there is one. Transactions that overlap may commit
 * in another order than they started in, so an end before the start counts nothing.
 */
export async function closeInterval(
  sql: Queryable,
  { resourceId, endedAt }: { resourceId: string; endedAt?: Date },
): Promise<void> {
  await sql`update meter_intervals set ended_at = greatest(started_at, coalesce(${endedAt ?? null}::timestamptz, now()))
    where resource_id = ${resourceId} and ended_at is null`;
}

/** Closes the interval of a VM. The end is the request to stop or delete it, if there was one. */
export async function closeVmInterval(sql: Queryable, vmId: string): Promise<void> {
  await sql`update meter_intervals m set ended_at = greatest(m.started_at, least(now(),
      (select min(o.recorded_at) from operations o where o.resource_id = m.resource_id
        and o.name in ('STOP', 'DELETE') and o.recorded_at >= m.started_at)))
    where m.resource_id = ${vmId} and m.ended_at is null`;
}
