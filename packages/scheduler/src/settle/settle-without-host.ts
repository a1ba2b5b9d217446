import type { Queryable, Sql } from '@gantry/db/connect';
import { firewallRuleView } from '@gantry/db/queries/networks/firewall-rule-view';
import { readFirewallRule } from '@gantry/db/queries/networks/firewall-rules';
import { succeedOperation, succeedVmOperation } from '@gantry/db/queries/settle/end-operation';
import { lockAffectedHosts, removeVm } from '@gantry/db/queries/settle/release-vm';
import {
  lockDisksOfVms,
  lockHostsOfDetachedDisks,
  lockRemovableVms,
  lockSettledRules,
  lockUnplacedDiskChanges,
  readUnsettled,
  removeRule,
  settleAttachmentsUnplaced,
  updateRuleApplied,
} from '@gantry/db/queries/settle/settle-without-host';
import { transact } from '@gantry/db/transact';
import { settleDisks } from './settle-disks.ts';
import { settleLostExports, settleLostSnapshots } from './snapshots/settle-snapshots.ts';

const BATCH_ROWS = 200;

/** Settles changes that need no host. Any number of schedulers can do this at the same time. */
export async function settleWithoutHost(sql: Sql): Promise<void> {
  const unsettled = await readUnsettled(sql);
  if (unsettled.vms) await transact(sql, removeUnplacedVms);
  if (unsettled.disk_changes) await transact(sql, changeDisksOfUnplacedVms);
  if (unsettled.disks) await transact(sql, (transaction) => settleDisks(transaction, BATCH_ROWS));
  if (unsettled.rules) await transact(sql, settleRules);
  if (unsettled.snapshots) await settleLostSnapshots(sql, BATCH_ROWS);
  if (unsettled.exports) await settleLostExports(sql, BATCH_ROWS);
}

async function removeUnplacedVms(sql: Queryable): Promise<void> {
  const removable = await lockRemovableVms(sql, BATCH_ROWS);
  const removedVmIds = removable.map(({ id }) => id);
  const keptElsewhereIds = await lockDisksOfVms(sql, removedVmIds);
  await lockAffectedHosts(sql, { hostId: null, removedVmIds, keptElsewhereIds });
  for (const vm of removable) {
    await succeedVmOperation(sql, vm);
    await removeVm(sql, vm.id);
  }
}

async function changeDisksOfUnplacedVms(sql: Queryable): Promise<void> {
  const vms = await lockUnplacedDiskChanges(sql, BATCH_ROWS);
  await lockHostsOfDetachedDisks(
    sql,
    vms.map(({ id }) => id),
  );
  for (const vm of vms) {
    await settleAttachmentsUnplaced(sql, vm.id);
    await succeedVmOperation(sql, vm);
  }
}

async function settleRules(sql: Queryable): Promise<void> {
  for (const rule of await lockSettledRules(sql, BATCH_ROWS)) {
    const key = { projectId: rule.project_id, ruleId: rule.id };
    if (rule.desired_state === 'present') await updateRuleApplied(sql, rule.id);
    const row = await readFirewallRule(sql, key);
    if (rule.desired_state === 'deleted') await removeRule(sql, rule.id);
    if (row) await succeedOperation(sql, { resourceId: rule.id, result: firewallRuleView(row) });
  }
}
