import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { printable, type VmReport } from './host-report.ts';

/**
 * What a host's word on one of its VMs means. Pure: the same word gives the same answer however
 * often it is heard, and one about an earlier wish means nothing.
 */
export type VmVerdict =
  | { is: 'nothing' }
  /** It runs as wanted; a failure beside it says why its disks are not. */
  | { is: 'running'; failure: Failure | null }
  | { is: 'crashed' }
  | { is: 'failed'; failure: Failure }
  | { is: 'gone' };

export type Failure = { code: string; message: string };

export function judgeVm(vm: PlacedVmRow, report: VmReport | undefined): VmVerdict {
  // What answers an earlier revision is overtaken; the host will answer this one.
  if (!report || report.revision !== vm.revision) return { is: 'nothing' };
  switch (report.state) {
    case 'VM_OBSERVED_STATE_RUNNING':
      return vm.should_run && report.boot === vm.generation
        ? { is: 'running', failure: failureOf(report) }
        : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_CRASHED':
      return vm.should_run && report.boot === vm.generation ? { is: 'crashed' } : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_FAILED':
      // A take-down that fails goes on until it is done: nothing else would be safe.
      return vm.should_run
        ? { is: 'failed', failure: failureOf(report) ?? UNEXPLAINED }
        : { is: 'nothing' };
    case 'VM_OBSERVED_STATE_DELETED':
      return vm.should_run ? { is: 'nothing' } : { is: 'gone' };
    default:
      return { is: 'nothing' };
  }
}

/** Once it is taken down, nothing of it is kept. */
export function isToBeRemoved(vm: PlacedVmRow): boolean {
  return vm.desired_state === 'deleted' || vm.abandoned;
}

const UNEXPLAINED: Failure = { code: 'host_failed', message: 'the host did not say why' };

function failureOf(report: VmReport): Failure | null {
  return (
    report.failure && {
      code: printable(report.failure.code),
      message: printable(report.failure.message),
    }
  );
}
