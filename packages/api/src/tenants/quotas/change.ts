import type { Queryable } from '@gantry/db/connect';
import {
  listOrganizationQuotas,
  listQuotas,
  type OrganizationQuotaRow,
  type QuotaRow,
  updateOrganizationQuota,
  updateQuota,
} from '@gantry/db/queries/tenants/quotas';
import { notFound } from '@gantry/model/errors';
import type { OrganizationQuotaType, QuotaType } from '@gantry/model/states';

type Change = { projectId: string; max: Partial<Record<QuotaType, number>> };

export async function changeQuotas(sql: Queryable, change: Change): Promise<QuotaRow[]> {
  const { projectId } = change;
  // Creations lock gpus before vms and disk_gib before disks. The same order prevents a deadlock.
  for (const type of (Object.keys(change.max) as QuotaType[]).sort()) {
    const max = change.max[type];
    if (max !== undefined) await updateQuota(sql, { projectId, type, max });
  }
  const quotas = await listQuotas(sql, projectId);
  if (quotas.length === 0) throw notFound('project');
  return quotas;
}

/** Creations lock the rows of an organization in this order: see `change_quota`. */
const ORGANIZATION_LOCK_ORDER = [
  ...(['projects', 'networks', 'firewall_rules', 'gpus', 'vms'] as const),
  ...(['disk_gib', 'disks', 'access_keys'] as const),
] satisfies OrganizationQuotaType[];

type OrganizationChange = {
  organizationId: string;
  max: Partial<Record<OrganizationQuotaType, number>>;
};

export async function changeOrganizationQuotas(
  sql: Queryable,
  change: OrganizationChange,
): Promise<OrganizationQuotaRow[]> {
  const { organizationId } = change;
  for (const type of ORGANIZATION_LOCK_ORDER) {
    const max = change.max[type];
    if (max !== undefined) await updateOrganizationQuota(sql, { organizationId, type, max });
  }
  const quotas = await listOrganizationQuotas(sql, organizationId);
  if (quotas.length === 0) throw notFound('organization');
  return quotas;
}
