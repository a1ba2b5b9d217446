import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  listHostsToFence,
  lockHostToFence,
  updateHostFenced,
} from '@gantry/db/queries/hosts/host-liveness';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { failOperation, failVm, hostFailure } from '@gantry/db/queries/settle/end-operation';
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
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { transact } from '@gantry/db/transact';

/**
 * Releases the VMs of hosts that an operator declared dead. The fence replaces the proof that the VMs
 * are gone. It does not prove that their devices are clean: they stay quarantined, on any host.
 */
export async function fenceHosts({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const { id } of await listHostsToFence(sql)) {
    const vms = await transact(sql, async (transaction) => {
      const placed = await lockPlacedVms(transaction, id);
      if (!(await lockHostToFence(transaction, id))) return null;
      const keptElsewhereIds = placed.flatMap(({ attachments }) =>
        attachments.flatMap(({ disk_id, kept_here }) => (kept_here ? [] : [disk_id])),
      );
      const affected = { hostId: id, removedVmIds: [], newDiskIds: [], keptElsewhereIds };
      await lockAffectedHosts(transaction, affected);
      for (const vm of placed) await loseVm(transaction, { hostId: id, vm });
      await updateHostFenced(transaction, id);
      return placed.length;
    });
    if (vms !== null)
      log.warn({ host_id: id, vms }, 'host fenced; its VMs may start on other hosts');
  }
}

/** A VM that should be removed is removed later as unplaced. One that should run can be started. */
async function loseVm(
  sql: Queryable,
  { hostId, vm }: { hostId: string; vm: PlacedVmRow },
): Promise<void> {
  const failure = hostFailure('an operator declared the host of the VM dead');
  // The host can no longer change disks: the VM keeps the disks it had.
  if (vm.operation === 'ATTACH_DISKS') await undoAttachments(sql, vm.id);
  if (vm.operation === 'DETACH_DISKS') await undoDetachments(sql, vm.id);
  await insertReceipts(sql, {
    hostId,
    vmId: vm.id,
    projectId: vm.project_id,
    receipts: uncleanReceipts(vm),
  });
  await releasePlacement(sql, vm.id);
  await closeInterval(sql, { resourceId: vm.id });
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

/** Receipts that record that the devices were not cleaned. */
function uncleanReceipts({ devices }: PlacedVmRow): Receipt[] {
  return devices.map((device) => ({
    device,
    serial: device.serial,
    method: 'none',
    finishedAt: new Date(),
    failure: {
      code: 'host_fenced',
      message: 'an operator declared the host dead while a VM had the device',
    },
  }));
}
