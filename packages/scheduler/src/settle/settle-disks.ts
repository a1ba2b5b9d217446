import type { Queryable } from '@gantry/db/connect';
import { succeedOperation } from '@gantry/db/queries/settle/end-operation';
import {
  lockUnsettledDisks,
  removeDisk,
  type UnsettledDisk,
  updateDiskObserved,
} from '@gantry/db/queries/settle/settle-without-host';
import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';

/**
 * A disk uses space on a host only after its first attachment. Before that, its creation, growth and
 * removal succeed at once. Afterwards the host grows and removes it, and its reports are settled here.
 */
export async function settleDisks(sql: Queryable, limit: number): Promise<void> {
  for (const disk of await lockUnsettledDisks(sql, limit)) {
    if (disk.desired_state === 'deleted') await settleDeletion(sql, disk);
    else await settleSize(sql, disk);
  }
}

async function settleDeletion(sql: Queryable, disk: UnsettledDisk): Promise<void> {
  if (!disk.idle) return;
  const last = await readDisk(sql, { projectId: disk.project_id, diskId: disk.id });
  await removeDisk(sql, disk.id);
  if (last) await succeedOperation(sql, { resourceId: disk.id, result: diskView(last) });
}

async function settleSize(sql: Queryable, disk: UnsettledDisk): Promise<void> {
  if (disk.idle) await updateDiskObserved(sql, { diskId: disk.id, sizeGib: disk.size_gib });
  else if ((disk.observed_size_gib ?? 0) < disk.size_gib) return;
  await meterDisk(sql, disk);
  if (!disk.operation) return;
  const row = await readDisk(sql, { projectId: disk.project_id, diskId: disk.id });
  if (row) await succeedOperation(sql, { resourceId: disk.id, result: diskView(row) });
}

/** Usage is metered by size, so a new size starts a new interval. */
async function meterDisk(sql: Queryable, disk: UnsettledDisk): Promise<void> {
  await closeInterval(sql, { resourceId: disk.id });
  await openInterval(sql, {
    organizationId: disk.organization_id,
    projectId: disk.project_id,
    resourceId: disk.id,
    region: disk.region,
    metered: { metric: 'gb_hours', diskType: disk.type, sizeGb: disk.size_gib },
  });
}
