import type { Queryable } from '@gantry/db/connect';
import { lockOrganization } from '@gantry/db/queries/tenants/organizations';
import { listDueProblems, listVmsToStop } from '@gantry/db/queries/tenants/standing';
import { transact } from '@gantry/db/transact';
import { CloudError } from '@gantry/model/errors';
import type { Deps } from '../deps.ts';
import { suspendOrganization } from '../standing/change.ts';
import { PROBLEM_REASONS } from '../standing/problem-reasons.ts';
import { changeVm } from '../vms/change.ts';

type Enforcement = Pick<Deps, 'sql' | 'log' | 'billing' | 'operationDeadlineMs'>;

const BATCH_ROWS = 200;

/**
 * Suspends organizations whose period of grace is over, then stops the VMs of suspended
 * organizations whose time is up, in the same way as a tenant's STOP. By the database's clock. Any
 * number of processes can do this at the same time, and each step is a transaction of its own, so a
 * process that is killed leaves the rest to the next run.
 */
export async function enforceStanding({ sql, log, billing, operationDeadlineMs }: Enforcement) {
  for (const { organization_id } of await listDueProblems(sql, null)) {
    try {
      // The event of a payment may have been lost. If the provider does not reply, nothing happens.
      await billing.collection?.refresh(organization_id);
      if (await transact(sql, (tx) => suspendIfDue(tx, organization_id)))
        log.warn({ organization_id }, 'organization suspended because it did not pay');
    } catch (error) {
      log.error({ error, organization_id }, 'organization not suspended; will be retried');
    }
  }
  for (const { id: vmId, project_id: projectId } of await listVmsToStop(sql, BATCH_ROWS)) {
    const target = { projectId, vmId, now: new Date(), deadlineMs: operationDeadlineMs };
    try {
      await transact(sql, (tx) => changeVm({ ...target, sql: tx, body: { action: 'STOP' } }));
      log.info({ vm_id: vmId }, 'VM of a suspended organization stopped');
    } catch (error) {
      // The VM has changed since the list was read: the next run looks at it again.
      if (!(error instanceof CloudError)) throw error;
    }
  }
}

/** Looks again under the lock: the organization may have paid meanwhile. */
async function suspendIfDue(sql: Queryable, organizationId: string): Promise<boolean> {
  await lockOrganization(sql, organizationId);
  const [problem] = await listDueProblems(sql, organizationId);
  if (!problem) return false;
  const reason = PROBLEM_REASONS[problem.kind];
  await suspendOrganization(sql, { organizationId, cause: 'payment', reason, graceMs: 0 });
  return true;
}
