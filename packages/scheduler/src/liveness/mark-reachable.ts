import type { Queryable } from '@gantry/db/connect';
import { updateHostReady, updateVmsReachable } from '@gantry/db/queries/hosts/host-liveness';
import { insertEvents } from '@gantry/db/queries/operations/events';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';

/** An unreachable host has reported again. Its report is applied in the same transaction. */
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
      message: 'the host of the VM is reachable again',
    })),
  );
}
