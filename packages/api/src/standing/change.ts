import type { Queryable } from '@gantry/db/connect';
import { lockOrganization } from '@gantry/db/queries/tenants/organizations';
import {
  hasDueProblem,
  insertPaymentProblem,
  insertStandingEvents,
  type NewSuspension,
  type PaymentProblem,
  readStanding,
  removePaymentProblem,
  removeSuspension,
  type StandingRow,
  upsertSuspension,
} from '@gantry/db/queries/tenants/standing';
import { CloudError, notFound } from '@gantry/model/errors';
import { PROBLEM_REASONS } from './problem-reasons.ts';

/**
 * How the standing of an organization changes:
 *
 * good → payment_problem (the provider reports an unpaid invoice or a removed payment method; the
 * tenant is notified) → suspended (the period of grace is over) → good (the provider reports a payment).
 * An operator can suspend and resume an organization at any time. An operator's suspension ends only
 * by an operator.
 *
 * Every step is one transaction with its events. Changes of one organization are serialised.
 */

export async function requireStanding(
  sql: Queryable,
  organizationId: string,
): Promise<StandingRow> {
  const standing = await readStanding(sql, organizationId);
  if (!standing) throw notFound('organization');
  return standing;
}

/** Suspends an organization. Its running VMs are stopped when the period of grace is over. */
export async function suspendOrganization(
  sql: Queryable,
  suspension: NewSuspension,
): Promise<StandingRow> {
  const { organizationId, reason } = suspension;
  await lockOrganization(sql, organizationId);
  await requireStanding(sql, organizationId);
  await upsertSuspension(sql, suspension);
  const standing = await requireStanding(sql, organizationId);
  const stopsAt = standing.stops_vms_at?.toISOString() ?? '';
  await insertStandingEvents(sql, {
    organizationId,
    type: 'vm_organization_suspended',
    message: `the organization is suspended: ${reason}. The VM is stopped at ${stopsAt} if it still runs`,
  });
  return standing;
}

/**
 * Ends a suspension and forgives payment problems: without that, the organization would be suspended
 * again at once. Stopped VMs stay stopped, because a start costs the tenant money.
 */
export async function resumeOrganization(
  sql: Queryable,
  organizationId: string,
): Promise<StandingRow> {
  await lockOrganization(sql, organizationId);
  await requireStanding(sql, organizationId);
  const wasSuspended = await removeSuspension(sql, { organizationId, cause: null });
  const hadProblem = await removePaymentProblem(sql, { organizationId, kind: null });
  if (!wasSuspended && !hadProblem)
    throw new CloudError('conflict', 'the organization is in good standing: nothing to resume');
  if (wasSuspended) await notifyResumed(sql, organizationId);
  return await requireStanding(sql, organizationId);
}

/** The provider reports a problem: the tenant is notified, and the period of grace begins. */
export async function recordPaymentProblem(
  sql: Queryable,
  problem: { organizationId: string; kind: PaymentProblem; invoiceId: string; graceMs: number },
): Promise<boolean> {
  const { organizationId, kind } = problem;
  await lockOrganization(sql, organizationId);
  if (!(await insertPaymentProblem(sql, problem))) return false;
  const suspendsAt = (await readStanding(sql, organizationId))?.suspends_at?.toISOString() ?? '';
  await insertStandingEvents(sql, {
    organizationId,
    type: 'vm_organization_warned',
    message: `${PROBLEM_REASONS[kind]}. Without a payment the organization is suspended at ${suspendsAt}`,
  });
  return true;
}

/** The provider reports that the problem is solved. An operator's suspension stays. */
export async function solvePaymentProblem(
  sql: Queryable,
  { organizationId, kind }: { organizationId: string; kind: PaymentProblem },
): Promise<boolean> {
  await lockOrganization(sql, organizationId);
  if (!(await removePaymentProblem(sql, { organizationId, kind }))) return false;
  if (await hasDueProblem(sql, organizationId)) return true;
  if (await removeSuspension(sql, { organizationId, cause: 'payment' }))
    await notifyResumed(sql, organizationId);
  return true;
}

async function notifyResumed(sql: Queryable, organizationId: string): Promise<void> {
  await insertStandingEvents(sql, {
    organizationId,
    type: 'vm_organization_resumed',
    message: 'the suspension of the organization has ended: use START to run a stopped VM again',
  });
}
