import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import {
  lockHostToFence,
  readHeir,
  updateHostFenced,
} from '@gantry/db/queries/hosts/host-liveness';
import {
  areVolumesFenced,
  listHostsToFence,
  updateStorageFenceProblem,
} from '@gantry/db/queries/hosts/storage-fences';
import { insertEvents } from '@gantry/db/queries/operations/events';
import {
  failOperation,
  failVm,
  hostFailure,
  type OperationFailure,
} from '@gantry/db/queries/settle/end-operation';
import {
  insertReceipts,
  lockAffectedHosts,
  type Receipt,
  releasePlacement,
} from '@gantry/db/queries/settle/release-vm';
import { lockReportedDisks } from '@gantry/db/queries/settle/settle-hosts';
import {
  lockPlacedVms,
  type PlacedVmRow,
  undoAttachments,
  undoDetachments,
  updateObservedVm,
  updateVmRestarted,
} from '@gantry/db/queries/settle/settle-vms';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { transact } from '@gantry/db/transact';
import { type ClusterOf, noClusterOf } from './clusters.ts';
import { fenceStorage } from './fence-storage.ts';

type Fencing = {
  sql: Sql;
  log: Log;
  clusters?: ClusterOf;
  /** Locations of whose storage clusters this scheduler takes care. Null: of all. */
  locations?: readonly string[] | null;
};

/**
 * Releases the VMs of hosts that an operator, or the policy for lost hosts, declared dead. The fence replaces the proof
 * that the VMs are gone. It does not prove that their devices are clean: they stay quarantined, on any host.
 *
 * A host that may have volumes open is fenced in their storage clusters first. While a cluster does not reply, the host
 * keeps its VMs, and the next run tries again.
 */
export async function fenceHosts(fencing: Fencing): Promise<void> {
  const { sql, log, clusters = noClusterOf, locations = null } = fencing;
  for (const host of await listHostsToFence(sql)) {
    const { id } = host;
    if (!(await areVolumesFenced(sql, id))) {
      if (locations !== null && !locations.includes(host.location)) continue;
      const problem = await fenceStorage({ sql, clusters, host });
      const isNew = await updateStorageFenceProblem(sql, { hostId: id, problem });
      if (isNew && problem !== '') log.warn({ host_id: id, problem }, 'fence of the host waits');
      if (problem !== '') continue;
    }
    const vms = await transact(sql, (transaction) => releaseVms(transaction, id));
    if (vms !== null)
      log.warn({ host_id: id, vms }, 'host fenced; its VMs may start on other hosts');
  }
}

/** Returns the number of VMs, or null if nothing was released. */
async function releaseVms(sql: Queryable, hostId: string): Promise<number | null> {
  const placed = await lockPlacedVms(sql, hostId);
  // The release changes disks, which are locked before hosts.
  await lockReportedDisks(sql, { hostId, diskIds: [] });
  if (!(await lockHostToFence(sql, hostId))) return null;
  // A disk of another cluster may have been attached meanwhile.
  if (!(await areVolumesFenced(sql, hostId))) return null;
  const keptElsewhereIds = placed.flatMap(({ attachments }) =>
    attachments.flatMap(({ disk_id, kept_elsewhere }) => (kept_elsewhere ? [disk_id] : [])),
  );
  const heirId = await readHeir(sql, hostId);
  await lockAffectedHosts(sql, { hostId, heirId, keptElsewhereIds });
  for (const vm of placed) await loseVm(sql, { hostId, vm });
  await updateHostFenced(sql, { hostId, heirId });
  return placed.length;
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
  if (isToRestart(vm)) return await restartElsewhere(sql, vm, failure);
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

/**
 * A VM is started elsewhere if its tenant wants that, it ran or was to run, and nothing of it was on the dead host. A
 * VM that an operator moves goes on moving.
 */
function isToRestart(vm: PlacedVmRow): boolean {
  const isWanted = vm.on_host_failure === 'restart' || vm.operation === 'MOVE';
  const ranOrStarts = vm.observed_state === 'running' || vm.observed_generation !== vm.generation;
  return (
    isWanted &&
    vm.desired_state === 'running' &&
    !vm.abandoned &&
    vm.observed_state !== 'none' &&
    ranOrStarts &&
    vm.attachments.every(({ in_pool }) => in_pool)
  );
}

async function restartElsewhere(
  sql: Queryable,
  vm: PlacedVmRow,
  failure: OperationFailure,
): Promise<void> {
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS')
    await failOperation(sql, { resourceId: vm.id, failure });
  await updateVmRestarted(sql, vm.id);
  await insertEvents(sql, [
    {
      projectId: vm.project_id,
      resourceType: 'vm',
      resourceId: vm.id,
      type: 'vm_restarted_elsewhere',
      message: 'the host of the VM failed and was fenced: the VM is started on another host',
    },
  ]);
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
