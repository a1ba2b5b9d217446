import type { Queryable, Sql } from '@gantry/db/connect';
import { readFirewallRule } from '@gantry/db/queries/networks/firewall-rules';
import { succeedOperation } from '@gantry/db/queries/operations/operations';
import { lockAffectedHosts, removeVm } from '@gantry/db/queries/settle/release-vm';
import {
  lockRemovableVms,
  lockSettledRules,
  lockUnplacedDiskChanges,
  readUnsettled,
  removeRule,
  settleAttachmentsUnplaced,
  updateRuleApplied,
} from '@gantry/db/queries/settle/settle-without-host';
import { readVm } from '@gantry/db/queries/vms/vms';
import { transact } from '@gantry/db/transact';
import { firewallRuleView } from '@gantry/db/views/firewall-rule';
import { vmView } from '@gantry/db/views/vm';
import { settleDisks } from './settle-disks.ts';

const TURN_ROWS = 200;

/** Ends what no host has to be asked about. Any number of schedulers may do so at once. */
export async function settleWithoutHost(sql: Sql): Promise<void> {
  const unsettled = await readUnsettled(sql);
  if (unsettled.vms) await transact(sql, removeUnplacedVms);
  if (unsettled.disk_changes) await transact(sql, changeDisksOfUnplacedVms);
  if (unsettled.disks) await transact(sql, (transaction) => settleDisks(transaction, TURN_ROWS));
  if (unsettled.rules) await transact(sql, settleRules);
}

async function removeUnplacedVms(sql: Queryable): Promise<void> {
  const removable = await lockRemovableVms(sql, TURN_ROWS);
  const removedVmIds = removable.map(({ id }) => id);
  const concerns = { hostId: null, releasedVmIds: [], removedVmIds, newDiskIds: [] };
  await lockAffectedHosts(sql, concerns);
  for (const { id, project_id } of removable) {
    const last = await readVm(sql, { projectId: project_id, vmId: id });
    if (last) await succeedOperation(sql, { resourceId: id, result: vmView(last) });
    await removeVm(sql, id);
  }
}

async function changeDisksOfUnplacedVms(sql: Queryable): Promise<void> {
  for (const { id, project_id } of await lockUnplacedDiskChanges(sql, TURN_ROWS)) {
    await settleAttachmentsUnplaced(sql, id);
    const vm = await readVm(sql, { projectId: project_id, vmId: id });
    if (vm) await succeedOperation(sql, { resourceId: id, result: vmView(vm) });
  }
}

async function settleRules(sql: Queryable): Promise<void> {
  for (const rule of await lockSettledRules(sql, TURN_ROWS)) {
    const key = { projectId: rule.project_id, ruleId: rule.id };
    if (rule.desired_state === 'present') await updateRuleApplied(sql, rule.id);
    const row = await readFirewallRule(sql, key);
    if (rule.desired_state === 'deleted') await removeRule(sql, rule.id);
    if (row) await succeedOperation(sql, { resourceId: rule.id, result: firewallRuleView(row) });
  }
}
