import type { Queryable } from '@gantry/db/connect';
import { listQuotas, type QuotaRow, updateQuota } from '@gantry/db/queries/tenants/quotas';
import { notFound } from '@gantry/model/errors';
import type { QuotaType } from '@gantry/model/states';

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
