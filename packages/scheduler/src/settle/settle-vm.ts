import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { printable, type VmReport } from '../attached/host-report.ts';

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
  | { is: 'gone' };

export type Failure = { code: string; message: string };

export function judgeVm(vm: PlacedVmRow, report: VmReport | undefined): VmVerdict {
  // The host will report again for the present revision.
  if (!report || report.revision !== vm.revision) return { is: 'nothing' };
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
      // The host repeats a failed take-down until it succeeds: claims end only on proof.
      return vm.should_run
        ? { is: 'failed', failure: failureOf(report) ?? UNEXPLAINED }
        : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_DELETED':
      return vm.should_run ? { is: 'nothing' } : { is: 'gone' };
    default:
      return { is: 'nothing' };
  }
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
      message: printable(report.failure.message),
    }
  );
}
