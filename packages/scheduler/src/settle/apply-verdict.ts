import { insertEvents } from '@gantry/db/queries/operations/events';
import { failOperation, succeedOperation } from '@gantry/db/queries/operations/operations';
import { insertReceipts, releasePlacement } from '@gantry/db/queries/settle/release-vm';
import {
  type PlacedVmRow,
  undoAttachments,
  undoDetachments,
  updateObservedVm,
} from '@gantry/db/queries/settle/settle-vms';
import { closeInterval, closeVmInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { failVm } from '@gantry/db/queries/vms/fail-vm';
import { readVm } from '@gantry/db/queries/vms/vms';
import { vmView } from '@gantry/db/views/vm';
import { gib } from './host-report.ts';
import { matchReceipts } from './match-receipts.ts';
import { areDisksAsWanted, settleDisksOf } from './settle-attachments.ts';
import { type Failure, isToBeRemoved, type VmVerdict } from './settle-vm.ts';
import type { VmSettling } from './vm-settling.ts';

/** Writes down what a verdict means, and ends the operation it answers. */
export async function applyVerdict(settling: VmSettling, verdict: VmVerdict): Promise<void> {
  switch (verdict.is) {
    case 'nothing':
      return;
    case 'running':
      return await settleRunning(settling, verdict.failure);
    case 'crashed':
      return await settleCrashed(settling);
    case 'failed':
      return await settleFailed(settling, verdict.failure);
    case 'gone':
      return await settleGone(settling);
  }
}

async function settleRunning(settling: VmSettling, failure: Failure | null): Promise<void> {
  const { sql, vm } = settling;
  const isOfDisks = vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS';
  const isDone = vm.operation !== null && (!isOfDisks || areDisksAsWanted(settling));
  // Sent together, and carried out in this order: what is read is what it has become.
  const [, , , row] = await Promise.all([
    !isObserved(vm, 'running') && updateObservedVm(sql, { vmId: vm.id, observedState: 'running' }),
    meterRunning(settling),
    settleDisksOf(settling),
    isDone ? readVm(sql, { projectId: vm.project_id, vmId: vm.id }) : undefined,
  ]);
  if (row) await succeedOperation(sql, { resourceId: vm.id, result: vmView(row) });
  else if (isOfDisks && failure) await undoDiskChange(settling, failure);
  if (failure) noteFailedGrowth(settling, failure);
}

/** Time counts while it runs; that of a reset does not. */
async function meterRunning({ sql, vm }: VmSettling): Promise<void> {
  const endedAt = vm.operation === 'RESET' ? vm.operation_recorded_at : null;
  if (endedAt) await closeInterval(sql, { resourceId: vm.id, endedAt });
  else if (vm.metered) return;
  await openInterval(sql, {
    organizationId: vm.organization_id,
    projectId: vm.project_id,
    resourceId: vm.id,
    region: vm.region,
    metered: { metric: 'vm_seconds', vmType: vm.type },
  });
}

/** The VM runs on as it was; what could not be done to its disks is no longer wanted. */
async function undoDiskChange({ sql, vm }: VmSettling, failure: Failure): Promise<void> {
  if (vm.operation === 'ATTACH_DISKS') await undoAttachments(sql, vm.id);
  if (vm.operation === 'DETACH_DISKS') await undoDetachments(sql, vm.id);
  await failOperation(sql, { resourceId: vm.id, failure: { ...failure, details: {} } });
}

function noteFailedGrowth({ vm, word, failedGrowths }: VmSettling, failure: Failure): void {
  for (const disk of vm.attachments) {
    const reported = word.disks.find(({ id }) => id === disk.disk_id)?.sizeBytes;
    const sizeGib = reported === undefined ? disk.observed_size_gib : gib(reported);
    if ((sizeGib ?? disk.size_gib) < disk.size_gib)
      failedGrowths.push({ diskId: disk.disk_id, failure });
  }
}

async function settleCrashed(settling: VmSettling): Promise<void> {
  const { sql, vm } = settling;
  if (vm.observed_state === 'none') {
    const failure = { code: 'host_failed', message: 'the VM died while it booted' };
    return await settleFailed(settling, failure);
  }
  if (!isObserved(vm, 'crashed')) {
    await updateObservedVm(sql, { vmId: vm.id, observedState: 'crashed' });
    await closeVmInterval(sql, vm.id);
    await insertEvents(sql, [
      {
        projectId: vm.project_id,
        resourceType: 'vm',
        resourceId: vm.id,
        type: 'vm_crashed',
        message: 'the VM died without being told to: START brings it up again',
      },
    ]);
  }
  await settleDisksOf(settling, { down: true });
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS') {
    await succeed(settling);
  } else if (vm.operation) {
    const failure = { code: 'host_failed', message: 'the VM died while it booted', details: {} };
    await failOperation(sql, { resourceId: vm.id, failure });
  }
}

async function settleFailed(settling: VmSettling, failure: Failure): Promise<void> {
  const { sql, vm } = settling;
  await closeVmInterval(sql, vm.id);
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS')
    await undoDiskChange(settling, failure);
  await failVm(sql, {
    vmId: vm.id,
    generation: vm.generation,
    after: 'error',
    failure: { ...failure, details: {} },
  });
}

/** The only place where a host's VM loses its claims: with a receipt for each of its devices. */
async function settleGone(settling: VmSettling): Promise<void> {
  const { sql, hostId, vm, report } = settling;
  const receipts = matchReceipts(vm, report.receipts);
  if (!receipts) return;
  const last = await readVm(sql, { projectId: vm.project_id, vmId: vm.id });
  await insertReceipts(sql, { hostId, vmId: vm.id, projectId: vm.project_id, receipts });
  await releasePlacement(sql, vm.id);
  await closeVmInterval(sql, vm.id);
  if (isToBeRemoved(vm)) {
    settling.removedVmIds.push(vm.id);
    if (last) await succeedOperation(sql, { resourceId: vm.id, result: vmView(last) });
  } else if (vm.desired_state === 'stopped') {
    await updateObservedVm(sql, { vmId: vm.id, observedState: 'stopped' });
    await succeed(settling);
  }
}

async function succeed({ sql, vm }: VmSettling): Promise<void> {
  const row = await readVm(sql, { projectId: vm.project_id, vmId: vm.id });
  if (row) await succeedOperation(sql, { resourceId: vm.id, result: vmView(row) });
}

function isObserved(vm: PlacedVmRow, state: PlacedVmRow['observed_state']): boolean {
  return vm.observed_state === state && vm.observed_generation === vm.generation;
}
