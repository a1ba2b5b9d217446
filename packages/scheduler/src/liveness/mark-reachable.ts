import type { Queryable } from '@gantry/db/connect';
import { updateHostReady, updateVmsReachable } from '@gantry/db/queries/hosts/host-liveness';
import { insertEvents } from '@gantry/db/queries/operations/events';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';

/** A host that was given up speaks again: what it says of its VMs is the truth. */
export async function markReachable(
  sql: Queryable,
  { hostId, vms }: { hostId: string; vms: PlacedVmRow[] },
): Promise<void> {
  await updateVmsReachable(sql, { vmIds: vms.map(({ id }) => id), reachable: true });
  await updateHostReady(sql, hostId);
  await insertEvents(
    sql,
    vms.map((vm) => ({
      projectId: vm.project_id,
      resourceType: 'vm',
      resourceId: vm.id,
      type: 'vm_reachable',
      message: 'the host of the VM is heard from again',
    })),
  );
}
