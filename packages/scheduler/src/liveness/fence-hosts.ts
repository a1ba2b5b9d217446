import type { Log } from '@gantry/daemon/log';
import type { Queryable, Sql } from '@gantry/db/connect';
import { insertEvents } from '@gantry/db/queries/events';
import { failVm } from '@gantry/db/queries/fail-vm';
import { listHostsToFence, updateHostFenced } from '@gantry/db/queries/host-liveness';
import { closeInterval } from '@gantry/db/queries/meter';
import { failOperation } from '@gantry/db/queries/operations';
import { releasePlacement } from '@gantry/db/queries/release-vm';
import { lockPlacedVms, type PlacedVmRow, updateObservedVm } from '@gantry/db/queries/settle-vms';

/** An operator's word that a host is dead stands for the proof that its VMs are gone. */
export async function fenceHosts({ sql, log }: { sql: Sql; log: Log }): Promise<void> {
  for (const { id } of await listHostsToFence(sql)) {
    const vms = await sql.begin(async (transaction) => {
      const placed = await lockPlacedVms(transaction, id);
      for (const vm of placed) await loseVm(transaction, vm);
      await updateHostFenced(transaction, id);
      return placed.length;
    });
    log.warn({ hostId: id, vms }, 'host fenced: its claims are free');
  }
}

/** What was to be removed is unplaced now and goes; what was to run is down and can be started elsewhere. */
async function loseVm(sql: Queryable, vm: PlacedVmRow): Promise<void> {
  const failure = {
    code: 'host_failed',
    message: 'the host of the VM was declared dead by an operator',
    details: {},
  };
  await releasePlacement(sql, vm.id);
  await closeInterval(sql, { resourceId: vm.id, endedAt: new Date() });
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
  if (vm.operation === 'CREATE') {
    await failVm(sql, { vmId: vm.id, generation: vm.generation, failure, after: 'keep' });
    return;
  }
  const observedState = vm.desired_state === 'stopped' ? 'stopped' : 'crashed';
  await updateObservedVm(sql, { vmId: vm.id, observedState });
  await failOperation(sql, { resourceId: vm.id, failure });
}
