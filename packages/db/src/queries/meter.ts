import { newId } from '@gantry/model/ids';
import type { Queryable } from '../connect.ts';

/**
 * What is in use, and since when. Both functions may be repeated: a resource has at most one open
 * interval, and that is the database's rule. Whoever changes what a resource counts as (a VM's type,
 * a disk's size) closes its interval and opens another at the same moment.
 */
export type Metered =
  | { metric: 'vm_seconds'; vmType: string }
  | { metric: 'gb_hours'; diskType: string; sizeGb: number };

export type NewInterval = {
  organizationId: string;
  projectId: string;
  resourceId: string;
  region: string;
  startedAt: Date;
  metered: Metered;
};

/** Starts counting; where the resource is counted already, nothing changes. */
export async function openInterval(sql: Queryable, interval: NewInterval): Promise<void> {
  const { metered } = interval;
  const [resourceType, units] =
    metered.metric === 'vm_seconds' ? [metered.vmType, 1] : [metered.diskType, metered.sizeGb];
  await sql`insert into meter_intervals
    (id, organization_id, project_id, resource_id, resource_type, billable_metric, units, region, started_at)
    values (${newId()}, ${interval.organizationId}, ${interval.projectId}, ${interval.resourceId}, ${resourceType},
      ${metered.metric}, ${units}, ${interval.region}, ${interval.startedAt})
    on conflict (resource_id) where ended_at is null do nothing`;
}

/**
 * Stops counting; where the resource is not counted, nothing changes. An end before the start can
 * only come from clocks that disagree: it then counts nothing rather than staying open for ever.
 */
export async function closeInterval(
  sql: Queryable,
  { resourceId, endedAt }: { resourceId: string; endedAt: Date },
): Promise<void> {
  await sql`update meter_intervals set ended_at = greatest(started_at, ${endedAt})
    where resource_id = ${resourceId} and ended_at is null`;
}

/** The same for a VM, which has left RUNNING when it was told to stop or go, however long that took. */
export async function closeVmInterval(
  sql: Queryable,
  { vmId, endedAt }: { vmId: string; endedAt: Date },
): Promise<void> {
  await sql`update meter_intervals m set ended_at = greatest(m.started_at, least(${endedAt}::timestamptz,
      (select min(o.started_at) from operations o where o.resource_id = m.resource_id
        and o.name in ('STOP', 'DELETE') and o.started_at >= m.started_at)))
    where m.resource_id = ${vmId} and m.ended_at is null`;
}
