import type { Queryable } from '@gantry/db/connect';
import { updateOutcomes } from '@gantry/db/queries/maintenance/differences';
import { insertEvents } from '@gantry/db/queries/operations/events';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import type { DifferenceOutcome } from '@gantry/model/host-states';
import type { VmVerdict } from './settle-vm.ts';

const OUTCOMES: Partial<Record<VmVerdict['is'], DifferenceOutcome>> = {
  running: 'started',
  crashed: 'lost',
  failed: 'lost',
  gone: 'gone',
};

/**
 * Records what became of VMs that their host did not run when an era began. A tenant had perhaps
 * stopped such a VM, and gets an event that it runs again. The tenant of a lost VM gets the event of the
 * verdict.
 */
export async function settleAbsent(
  sql: Queryable,
  {
    hostId,
    judged,
  }: { hostId: string; judged: readonly { vm: PlacedVmRow; verdict: VmVerdict }[] },
): Promise<void> {
  for (const { vm, verdict } of judged) {
    const outcome = OUTCOMES[verdict.is];
    if (!outcome) continue;
    const pending = await updateOutcomes(sql, { hostId, vmIds: [vm.id], outcome });
    if (outcome === 'started' && pending.length > 0)
      await insertEvents(sql, [
        {
          projectId: vm.project_id,
          resourceType: 'vm',
          resourceId: vm.id,
          type: 'vm_restored',
          message:
            'the VM was started again, because a recovery of the control plane went back to when it ran',
        },
      ]);
  }
}
