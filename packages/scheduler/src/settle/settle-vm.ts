import { recordBuild } from '@gantry/db/queries/hosts/host-trouble';
import { insertEvents } from '@gantry/db/queries/operations/events';
import {
  failOperation,
  failVm,
  hostFailure,
  succeedOperation,
  succeedVmOperation,
} from '@gantry/db/queries/settle/end-operation';
import {
  insertReceipts,
  releaseDevices,
  releasePlacement,
} from '@gantry/db/queries/settle/release-vm';
import {
  type PlacedVmRow,
  undoAttachments,
  undoDetachments,
  updateObservedVm,
  updateVmAhead,
  updateVmRelocated,
} from '@gantry/db/queries/settle/settle-vms';
import { closeInterval, openInterval, proveInterval } from '@gantry/db/queries/usage/meter';
import { vmView } from '@gantry/db/queries/vms/vm-view';
import { readVm } from '@gantry/db/queries/vms/vms';
import {
  gib,
  MAX_COUNTER,
  printable,
  reasonForTenants,
  type VmReport,
} from '../attached/host-report.ts';
import { isSilence } from './is-silence.ts';
import { matchReceipts } from './match-receipts.ts';
import { DEVICE_STUCK, isBuild, relocate } from './relocate.ts';
import { areDisksAsRequested, settleDisksOf } from './settle-attachments.ts';
import type { Failure, VmSettling } from './vm-settling.ts';

/**
 * The meaning of a host's report about one of its VMs. The result depends only on the arguments, so a
 * repeated report has the same verdict. A report about an earlier revision means nothing.
 */
export type VmVerdict =
  | { is: 'nothing' }
  /** The VM runs as requested. `failure` is set if its disks could not be changed as requested. */
  | { is: 'running'; failure: Failure | null }
  | { is: 'crashed' }
  | { is: 'failed'; failure: Failure }
  /** The VM probably runs, but its hypervisor does not reply about it. The host goes on trying. */
  | { is: 'unresponsive'; failure: Failure }
  | { is: 'gone' }
  /** The host cannot take the VM down until its kernel releases a device. It goes on trying. */
  | { is: 'held_up'; failure: Failure }
  /** The host started the VM for a generation that the database has not issued: commits are lost. */
  | { is: 'ahead'; generation: string };

export function judgeVm(vm: PlacedVmRow, report: VmReport | undefined): VmVerdict {
  if (!report) return { is: 'nothing' };
  if (vm.should_run && isAhead(report.generation, vm.generation))
    return { is: 'ahead', generation: report.generation };
  // The host will report again for the present revision.
  if (report.revision !== vm.revision) return { is: 'nothing' };
  switch (report.state) {
    case 'VM_OBSERVED_STATE_RUNNING':
      return vm.should_run && report.generation === vm.generation
        ? { is: 'running', failure: failureOf(report) }
        : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_CRASHED':
      return vm.should_run && report.generation === vm.generation
        ? { is: 'crashed' }
        : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_FAILED':
      return vm.should_run
        ? judgeFailure(vm, failureOf(report) ?? UNEXPLAINED)
        : judgeTakeDown(failureOf(report));
    case 'VM_OBSERVED_STATE_TAKEN_DOWN':
      return vm.should_run ? { is: 'nothing' } : { is: 'gone' };
    default:
      return { is: 'nothing' };
  }
}

/**
 * A VM that ran before is not given up because a part of its host does not reply: to give it up ends it
 * and erases its drives. After a boot of the host, for example, libvirt may take minutes to reply.
 */
function judgeFailure(vm: PlacedVmRow, failure: Failure): VmVerdict {
  const mayRun = isSilence(failure) && !isBuild(vm);
  return { is: mayRun ? 'unresponsive' : 'failed', failure };
}

/** The host repeats a failed take-down until it succeeds: claims end only on proof. */
function judgeTakeDown(failure: Failure | null): VmVerdict {
  return failure?.code === DEVICE_STUCK ? { is: 'held_up', failure } : { is: 'nothing' };
}

/** A greater value was not issued by a scheduler, and is ignored. */
export function isAhead(reported: string, known: string): boolean {
  return Number(reported) > Number(known) && Number(reported) < MAX_COUNTER;
}

/** Whether the VM is removed once the host has taken it down. */
export function isToBeRemoved(vm: PlacedVmRow): boolean {
  return vm.desired_state === 'deleted' || vm.abandoned;
}

const UNEXPLAINED: Failure = { code: 'host_failed', message: 'the host gave no reason' };

function failureOf(report: VmReport): Failure | null {
  return (
    report.failure && {
      code: printable(report.failure.code),
      message: reasonForTenants(report.failure.message),
    }
  );
}

/** Records a verdict and ends the operation that it completes. See model/vm-life. */
export async function applyVerdict(settling: VmSettling, verdict: VmVerdict): Promise<void> {
  switch (verdict.is) {
    case 'nothing':
      return;
    case 'running':
      return await settleRunning(settling, verdict.failure);
    case 'crashed':
      return await settleCrashed(settling);
    case 'failed':
      if (await relocate(settling, verdict.failure)) return;
      return await settleFailed(settling, verdict.failure);
    case 'unresponsive':
      return await settleUnresponsive(settling, verdict.failure);
    case 'gone':
      return await settleGone(settling);
    case 'held_up':
      return await settleHeldUp(settling, verdict.failure);
    case 'ahead':
      return await settleAhead(settling, verdict.generation);
  }
}

async function settleRunning(settling: VmSettling, failure: Failure | null): Promise<void> {
  const { sql, vm } = settling;
  const changesDisks = vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS';
  const isDone = vm.operation !== null && (!changesDisks || areDisksAsRequested(settling));
  // The statements are pipelined and run in this order, so the VM is read after its changes.
  const [, , , row] = await Promise.all([
    !isObserved(vm, 'running') && updateObservedVm(sql, { vmId: vm.id, observedState: 'running' }),
    meterRunning(settling),
    settleDisksOf(settling),
    isDone ? readVm(sql, { projectId: vm.project_id, vmId: vm.id }) : undefined,
  ]);
  if (row) await succeedOperation(sql, { resourceId: vm.id, result: vmView(row) });
  if (row && isBuild(vm) && settling.hasFailedBuilds) await recordBuild(sql, settling.hostId);
  else if (changesDisks && failure) await undoDiskChange(settling, failure);
  if (failure) noteFailedGrowth(settling, failure);
}

/** A VM that was known to run, and still does without a new start, ran while its host was silent. */
async function meterRunning({ sql, vm }: VmSettling): Promise<void> {
  if (vm.metered) return;
  if (isObserved(vm, 'running')) await proveInterval(sql, vm.id);
  await openInterval(sql, {
    organizationId: vm.organization_id,
    projectId: vm.project_id,
    resourceId: vm.id,
    region: vm.region,
    metered: { metric: 'vm_seconds', vmType: vm.type },
  });
}

/** The VM keeps running with the disks it had; the failed change is reverted. */
async function undoDiskChange({ sql, vm }: VmSettling, failure: Failure): Promise<void> {
  if (vm.operation === 'ATTACH_DISKS') await undoAttachments(sql, vm.id);
  if (vm.operation === 'DETACH_DISKS') await undoDetachments(sql, vm.id);
  await failOperation(sql, { resourceId: vm.id, failure });
}

function noteFailedGrowth({ vm, vmReport, failedGrowths }: VmSettling, failure: Failure): void {
  for (const disk of vm.attachments) {
    const reported = vmReport.disks.find(({ id }) => id === disk.disk_id)?.sizeBytes;
    const sizeGib = reported === undefined ? disk.observed_size_gib : gib(reported);
    if ((sizeGib ?? disk.size_gib) < disk.size_gib)
      failedGrowths.push({ diskId: disk.disk_id, failure });
  }
}

const ENDED_DURING_BOOT = hostFailure('the VM ended while it booted');

async function settleCrashed(settling: VmSettling): Promise<void> {
  const { sql, vm } = settling;
  if (vm.observed_state === 'none') return await settleFailed(settling, ENDED_DURING_BOOT);
  if (!isObserved(vm, 'crashed')) {
    await updateObservedVm(sql, { vmId: vm.id, observedState: 'crashed' });
    await closeInterval(sql, { resourceId: vm.id });
    await insertEvents(sql, [
      {
        projectId: vm.project_id,
        resourceType: 'vm',
        resourceId: vm.id,
        type: 'vm_crashed',
        message: 'the VM ended without a request: use START to run it again',
      },
    ]);
  }
  await settleDisksOf(settling, { down: true });
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS') {
    await succeedVmOperation(sql, vm);
  } else if (vm.operation) {
    await failOperation(sql, { resourceId: vm.id, failure: ENDED_DURING_BOOT });
  }
}

async function settleFailed(settling: VmSettling, failure: Failure): Promise<void> {
  const { sql, vm } = settling;
  await closeInterval(sql, { resourceId: vm.id });
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS')
    await undoDiskChange(settling, failure);
  const hasFailed = await failVm(sql, {
    vmId: vm.id,
    generation: vm.generation,
    after: 'error',
    failure,
  });
  // The tenant asked for nothing: the host has lost the VM, or a part of it.
  if (hasFailed && vm.operation === null)
    await insertEvents(sql, [
      {
        projectId: vm.project_id,
        resourceType: 'vm',
        resourceId: vm.id,
        type: 'vm_lost',
        message: `its host cannot run the VM any more: ${failure.message}`,
      },
    ]);
}

/** As after a deadline, the VM keeps its state, and the host resets it when it replies again. */
async function settleUnresponsive(settling: VmSettling, failure: Failure): Promise<void> {
  const { sql, vm } = settling;
  if (vm.operation === 'ATTACH_DISKS' || vm.operation === 'DETACH_DISKS')
    await undoDiskChange(settling, failure);
  if (vm.operation === 'RESET')
    await failVm(sql, { vmId: vm.id, generation: vm.generation, after: 'keep', failure });
}

/** As after a deadline, the stop or removal stays in force. A creation that moves on has its deadline. */
async function settleHeldUp({ sql, vm }: VmSettling, failure: Failure): Promise<void> {
  if (vm.operation !== 'STOP' && vm.operation !== 'DELETE') return;
  await failOperation(sql, { resourceId: vm.id, failure });
}

/**
 * Offers the clean devices of a VM that is being removed to other VMs, while its host still cleans the
 * others: a drive takes hours, a GPU seconds. Only a removal does so, because a VM that is stopped or
 * moved can be started again before it is gone, and needs all its devices then. The cores and memory of
 * the VM stay claimed until it is gone.
 */
export async function releaseCleanDevices(settling: VmSettling): Promise<void> {
  const { sql, hostId, vm, report } = settling;
  if (vm.should_run || !isToBeRemoved(vm)) return;
  const receipts = matchReceipts(vm, report.receipts);
  if (receipts.length === 0) return;
  await insertReceipts(sql, { hostId, vmId: vm.id, projectId: vm.project_id, receipts });
  await releaseDevices(sql, { hostId, deviceIds: receipts.map(({ device }) => device.id) });
}

/**
 * Except for a fence and for clean devices of a VM that is being removed, claims end only here: with a
 * receipt for each device of the VM.
 */
async function settleGone(settling: VmSettling): Promise<void> {
  const { sql, hostId, vm, report } = settling;
  const receipts = matchReceipts(vm, report.receipts);
  if (receipts.length < vm.devices.length) return;
  // The result of a DELETE is the VM as it was before its claims and addresses ended.
  if (isToBeRemoved(vm)) await succeedVmOperation(sql, vm);
  await insertReceipts(sql, { hostId, vmId: vm.id, projectId: vm.project_id, receipts });
  await releasePlacement(sql, vm.id);
  if (vm.relocating) await updateVmRelocated(sql, vm.id);
  if (isToBeRemoved(vm)) {
    settling.removedVmIds.push(vm.id);
  } else if (vm.desired_state === 'stopped') {
    await updateObservedVm(sql, { vmId: vm.id, observedState: 'stopped' });
    await succeedVmOperation(sql, vm);
  }
}

/**
 * The VM has booted since the state that the database knows. If a power action is unfinished, it gets a
 * generation that the host has not seen, so that it takes effect. Otherwise the VM stays as it is, and
 * its generation becomes the host's.
 */
async function settleAhead({ sql, vm }: VmSettling, generation: string): Promise<void> {
  const isUnfinished = vm.observed_generation !== vm.generation;
  await updateVmAhead(sql, { vmId: vm.id, generation, isUnfinished });
}

function isObserved(vm: PlacedVmRow, state: PlacedVmRow['observed_state']): boolean {
  return vm.observed_state === state && vm.observed_generation === vm.generation;
}
