import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';

/**
 * Records what is in use, and since when. The functions are idempotent: a unique index allows one
 * open interval per resource. A change of what a resource counts as (a disk's size) closes the
 * interval and opens another at the same moment.
 *
 * A VM is metered while it is STATE_RUNNING. The scheduler opens the interval when a host reports
 * the VM as running. Whatever ends that state closes the interval in its own transaction: a request
 * to stop, reset or delete the VM in the api, and a crash, a failure, a fence or the silence of the
 * host in the scheduler. How long a host takes to obey is therefore never charged.
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
 * Closes the open interval of the resource, if there is one. Unproven time of the resource is never
 * charged after this. Transactions that overlap may commit in another order than they started in, so
 * an end before the start counts nothing.
 */
export async function closeInterval(
  sql: Queryable,
  { resourceId, endedAt }: { resourceId: string; endedAt?: Date },
): Promise<void> {
  await sql`update meter_intervals set unproven = false,
      ended_at = coalesce(ended_at, greatest(started_at, coalesce(${endedAt ?? null}::timestamptz, now())))
    where resource_id = ${resourceId} and (ended_at is null or unproven)`;
}

/**
 * Closes the open interval of a VM whose host has fallen silent. The interval ends when the host was
 * last seen. The time since then is charged only if the host proves later that the VM ran on.
 */
export async function closeUnproven(
  sql: Queryable,
  { resourceId, provenUntil, now }: { resourceId: string; provenUntil: Date; now?: Date },
): Promise<void> {
  await sql`update meter_intervals m
    set ended_at = greatest(m.started_at, least(${provenUntil}, c.moment)),
      given_up_at = greatest(m.started_at, c.moment), unproven = true
    from (select coalesce(${now ?? null}::timestamptz, now()) as moment) c
    where m.resource_id = ${resourceId} and m.ended_at is null`;
}

/** The host of a VM has proven that the VM ran on while the host was silent. */
export async function proveInterval(sql: Queryable, resourceId: string): Promise<void> {
  await sql`update meter_intervals set ended_at = given_up_at, unproven = false
    where resource_id = ${resourceId} and unproven`;
}
