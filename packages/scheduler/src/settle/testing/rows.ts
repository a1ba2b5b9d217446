import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import type { VmReport } from '../../attached/host-report.ts';

/** Builds complete rows and reports from the values that a test needs. */
export function makePlacedVm(vm: Partial<PlacedVmRow> = {}): PlacedVmRow {
  return {
    id: 'vm-1',
    project_id: 'project-1',
    organization_id: 'organization-1',
    type: 'a40.1x',
    region: 'eu-north',
    revision: '1',
    generation: '1',
    observed_generation: '0',
    observed_state: 'none',
    desired_state: 'running',
    abandoned: false,
    reachable: true,
    should_run: true,
    relocating: false,
    avoided_hosts: [],
    operation: null,
    operation_id: null,
    on_host_failure: 'leave',
    metered: false,
    devices: [],
    attachments: [],
    ...vm,
  };
}

export function makeVmReport(given: Partial<VmReport> = {}): VmReport {
  return {
    id: 'vm-1',
    revision: '1',
    generation: '1',
    state: 'VM_OBSERVED_STATE_RUNNING',
    failure: null,
    disks: [],
    known: null,
    contentHash: '',
    ...given,
  };
}
