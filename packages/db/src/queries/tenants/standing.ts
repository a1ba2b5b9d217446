import type { EventType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { insertEvents } from '../operations/events.ts';

/** Whether an organization may use the cloud: problems with its payments, and its suspension. */

export type PaymentProblem = 'payment_failed' | 'no_payment_method';
export type SuspensionCause = 'operator' | 'payment';

export type StandingRow = {
  problem: PaymentProblem | null;
  problem_since: Date | null;
  suspends_at: Date | null;
  cause: SuspensionCause | null;
  reason: string | null;
  suspended_at: Date | null;
  stops_vms_at: Date | null;
};

/** Returns undefined if there is no such organization. */
export async function readStanding(
  sql: Queryable,
  organizationId: string,
): Promise<StandingRow | undefined> {
  const [row] = await sql<StandingRow[]>`
    select p.kind as problem, p.since as problem_since, p.suspends_at,
      s.cause, s.reason, s.since as suspended_at, s.stops_vms_at
    from organizations o
    left join lateral (select * from payment_problems where organization_id = o.id
      order by suspends_at, kind limit 1) p on true
    left join suspensions s on s.organization_id = o.id
    where o.id = ${organizationId}`;
  return row;
}

/** Records a problem. A problem that the organization already has stays, with its date. */
export async function insertPaymentProblem(
  sql: Queryable,
  problem: { organizationId: string; kind: PaymentProblem; invoiceId: string; graceMs: number },
): Promise<boolean> {
  const { count } = await sql`
    insert into payment_problems (organization_id, kind, invoice_id, suspends_at)
    select id, ${problem.kind}, ${problem.invoiceId}, now() + ${problem.graceMs} * interval '1 millisecond'
    from organizations where id = ${problem.organizationId}
    on conflict (organization_id, kind) do nothing`;
  return count > 0;
}

/** A null `kind` means any. Returns whether there was one. */
export async function removePaymentProblem(
  sql: Queryable,
  { organizationId, kind }: { organizationId: string; kind: PaymentProblem | null },
): Promise<boolean> {
  const { count } = await sql`delete from payment_problems
    where organization_id = ${organizationId} and (${kind}::text is null or kind = ${kind})`;
  return count > 0;
}

/** Returns whether the organization has a problem whose period of grace is over. */
export async function hasDueProblem(sql: Queryable, organizationId: string): Promise<boolean> {
  const rows = await sql`select from payment_problems
    where organization_id = ${organizationId} and suspends_at <= now() limit 1`;
  return rows.length > 0;
}

export type DueProblem = { organization_id: string; kind: PaymentProblem };

/**
 * Lists organizations whose period of grace is over, and that are not suspended yet. A null
 * `organizationId` means all.
 */
export async function listDueProblems(
  sql: Queryable,
  organizationId: string | null,
): Promise<DueProblem[]> {
  return await sql<DueProblem[]>`
    select distinct on (p.organization_id) p.organization_id, p.kind from payment_problems p
    where p.suspends_at <= now() and (${organizationId}::uuid is null or p.organization_id = ${organizationId}::uuid)
      and not exists (select from suspensions s where s.organization_id = p.organization_id)
    order by p.organization_id, p.suspends_at limit 100`;
}

export type NewSuspension = {
  organizationId: string;
  cause: SuspensionCause;
  reason: string;
  /** How long VMs that run may continue. */
  graceMs: number;
};

/** An operator's suspension replaces another one; one for lack of payment changes nothing then. */
export async function upsertSuspension(
  sql: Queryable,
  { organizationId, cause, reason, graceMs }: NewSuspension,
): Promise<void> {
  await sql`insert into suspensions (organization_id, cause, reason, stops_vms_at)
    values (${organizationId}, ${cause}, ${reason}, now() + ${graceMs} * interval '1 millisecond')
    on conflict (organization_id) do update
    set cause = excluded.cause, reason = excluded.reason, stops_vms_at = excluded.stops_vms_at
    where excluded.cause = 'operator'`;
}

/** A null `cause` means any. Returns whether the organization was suspended. */
export async function removeSuspension(
  sql: Queryable,
  { organizationId, cause }: { organizationId: string; cause: SuspensionCause | null },
): Promise<boolean> {
  const { count } = await sql`delete from suspensions
    where organization_id = ${organizationId} and (${cause}::text is null or cause = ${cause})`;
  return count > 0;
}

/** Tells the tenant, with an event for each VM of the organization. */
export async function insertStandingEvents(
  sql: Queryable,
  { organizationId, type, message }: { organizationId: string; type: EventType; message: string },
): Promise<void> {
  const vms = await sql<{ id: string; project_id: string }[]>`
    select v.id, v.project_id from vms v join projects p on p.id = v.project_id
    where p.organization_id = ${organizationId} and v.desired_state <> 'deleted' order by v.id`;
  await insertEvents(
    sql,
    vms.map((vm) => ({
      ...{ projectId: vm.project_id, resourceType: 'vm' as const, resourceId: vm.id },
      ...{ type, message },
    })),
  );
}

/** Lists running VMs of suspended organizations whose time is up, without an unfinished operation. */
export async function listVmsToStop(
  sql: Queryable,
  limit: number,
): Promise<{ id: string; project_id: string }[]> {
  return await sql<{ id: string; project_id: string }[]>`
    select v.id, v.project_id from suspensions s
    join projects p on p.organization_id = s.organization_id join vms v on v.project_id = p.id
    where s.stops_vms_at <= now() and v.state = 'STATE_RUNNING'
      and not exists (select from operations o where o.resource_id = v.id and o.state = 'IN_PROGRESS')
    order by v.id limit ${limit}`;
}
