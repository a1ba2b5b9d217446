import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  listHostsToFence,
  lockHostToFence,
  updateHostFenced,
} from '@gantry/db/queries/hosts/host-liveness';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { failOperation } from '@gantry/db/queries/operations/operations';
import {
  insertReceipts,
  lockAffectedHosts,
  type Receipt,
  releasePlacement,
} from '@gantry/db/queries/settle/release-vm';
import {
  lockPlacedVms,
  type PlacedVmRow,
  undoAttachments,
  undoDetachments,
  updateObservedVm,
} from '@gantry/db/queries/settle/settle-vms';
import { closeVmInterval } from '@gantry/db/queries/usage/meter';
import { failVm } from '@gantry/db/queries/vms/fail-vm';
import { transact } from '@gantry/db/transact';

/**
 * An operator's word that a host is dead stands for the proof that its VMs are gone. It does not stand
 * for the proof that their devices are clean: those go to nobody, wherever they turn up again.
 */
export async function fenceHosts({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const { id } of await listHostsToFence(sql)) {
    const vms = await transact(sql, async (transaction) => {
      const placed = await lockPlacedVms(transaction, id);
      if (!(await lockHostToFence(transaction, id))) return null;
      await lockAffectedHosts(transaction, {
        ...{
          hostId: id,
          releasedVmIds: placed.map((vm) => vm.id),
          removedVmIds: [],
          newDiskIds: [],
        },
      });
      for (const vm of placed) await loseVm(transaction, { hostId: id, vm });
      await updateHostFenced(transaction, id);
      return placed.length;
    });
    if (vms !== null) log.warn({ hostId: id, vms }, 'host fenced: its VMs may start elsewhere');
  }
}

/** What was to be removed is unplaced now and goes; what was to run is down and can be started elsewhere. */
async function loseVm(
  sql: Queryable,
  { hostId, vm }: { hostId: string; vm: PlacedVmRow },
): Promise<void> {
  const failure = {
    code: 'host_failed',
    message: 'the host of the VM was declared dead by an operator',
    details: {},
  };
  // Nothing can be done to disks there any more: the VM has those it had.
  if (vm.operation === 'ATTACH_DISKS') await undoAttachments(sql, vm.id);
  if (vm.operation === 'DETACH_DISKS') await undoDetachments(sql, vm.id);
  await insertReceipts(sql, {
    ...{ hostId, vmId: vm.id, projectId: vm.project_id, receipts: receiptsOfNothing(vm) },
  });
  await releasePlacement(sql, vm.id);
  await closeVmInterval(sql, vm.id);
  await insertEvents(sql, [
    {
      projectId: vm.project_id,
      resourceType: 'vm',
      resourceId: vm.id,
      type: 'vm_host_fenced',
      message: failure.message,
    },
  ]);
  if (vm.desired_state === 'deleted' || vm.abandoned) return;
  if (vm.observed_state === 'none') {
    await failVm(sql, { vmId: vm.id, generation: vm.generation, failure, after: 'keep' });
    return;
  }
  if (vm.desired_state === 'stopped')
    await updateObservedVm(sql, { vmId: vm.id, observedState: 'stopped' });
  else if (vm.should_run) await updateObservedVm(sql, { vmId: vm.id, observedState: 'crashed' });
  await failOperation(sql, { resourceId: vm.id, failure });
}

/** Nobody has cleaned what the VM had, and nobody will be asked to. */
function receiptsOfNothing({ devices }: PlacedVmRow): Receipt[] {
  return devices.map((device) => ({
    ...{ device, serial: device.serial, method: 'none', finishedAt: new Date() },
    failure: { code: 'host_fenced', message: 'its host was declared dead while the VM had it' },
  }));
}
