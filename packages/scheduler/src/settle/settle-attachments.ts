import {
  type PlacedVmRow,
  removeAttachment,
  updateDiskAttached,
} from '@gantry/db/queries/settle/settle-vms';
import { groupBy } from '@gantry/model/group-by';
import { gib, type HostReport, type VmReport } from '../attached/host-report.ts';
import type { VmSettling } from './vm-settling.ts';

/**
 * Records which disks are attached to the VM's domain. A disk is detached when the host no longer
 * reports it, or when the domain is `down`: then it uses no disk, and its next start is without it.
 */
export async function settleDisksOf(settling: VmSettling, { down = false } = {}): Promise<void> {
  const { sql, hostId, vm } = settling;
  const sizes = sizesOf(settling);
  const settleDisk = async (attachment: VmSettling['vm']['attachments'][number]) => {
    const diskId = attachment.disk_id;
    const sizeBytes = sizes.get(diskId);
    if (attachment.desired_state === 'detached') {
      if (down || sizeBytes === undefined) await removeAttachment(sql, { vmId: vm.id, diskId });
      return;
    }
    if (sizeBytes === undefined) return;
    const seenGib = Math.min(gib(sizeBytes), attachment.size_gib);
    // A host that has opened a volume and not measured it yet reports zero.
    const sizeGib = seenGib || (attachment.observed_size_gib ?? 0);
    const isKnown =
      attachment.attached && attachment.kept_here && attachment.observed_size_gib === sizeGib;
    if (!isKnown) await updateDiskAttached(sql, { vmId: vm.id, diskId, hostId, sizeGib });
  };
  await Promise.all(vm.attachments.map(settleDisk));
}

export function areDisksAsRequested(settling: VmSettling): boolean {
  const sizes = sizesOf(settling);
  return settling.vm.attachments.every(
    ({ disk_id, desired_state }) => sizes.has(disk_id) === (desired_state === 'attached'),
  );
}

function sizesOf({ vmReport }: VmSettling): Map<string, string> {
  return new Map(vmReport.disks.map(({ id, sizeBytes }) => [id, sizeBytes]));
}

type Settled = {
  report: Pick<HostReport, 'disks'>;
  vms: readonly PlacedVmRow[];
  judged: readonly { vm: PlacedVmRow; vmReport: VmReport; verdict: { is: string } }[];
};

/**
 * Returns the reported disks about which something may have to be recorded. Every report lists all disks of the host,
 * and almost all of them are known: a placed VM has the disk, and its host and size are as reported. The disks of a
 * VM that runs as requested are recorded with its verdict, in `settleDisksOf`: to record them here too would change
 * the row twice.
 */
export function disksToRecord({ report, vms, judged }: Settled): { id: string; sizeGib: number }[] {
  const running = new Map(
    judged.flatMap(({ vm, vmReport, verdict }) =>
      verdict.is === 'running' ? [[vm.id, vmReport] as const] : [],
    ),
  );
  const attachments = groupBy(
    vms.flatMap((vm) =>
      vm.attachments.map((attachment) => ({ ...attachment, vmReport: running.get(vm.id) })),
    ),
    ({ disk_id }) => disk_id,
  );
  const isRecorded = (id: string, sizeGib: number) =>
    (attachments.get(id) ?? []).some((one) => {
      if (one.in_pool || one.kept_elsewhere) return true;
      const wantedGib = Math.min(sizeGib, one.size_gib);
      if (one.kept_here)
        return one.observed_size_gib !== null && one.observed_size_gib >= wantedGib;
      const attached = one.vmReport?.disks.find((disk) => disk.id === id);
      return (
        one.desired_state === 'attached' &&
        attached !== undefined &&
        gib(attached.sizeBytes) >= Math.max(1, wantedGib)
      );
    });
  return report.disks
    .map(({ id, sizeBytes }) => ({ id, sizeGib: gib(sizeBytes) }))
    .filter(({ id, sizeGib }) => !isRecorded(id, sizeGib));
}
