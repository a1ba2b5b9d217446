import { removeAttachment, updateDiskAttached } from '@gantry/db/queries/settle/settle-vms';
import { gib } from '../attached/host-report.ts';
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
