import type { Differences } from '@gantry/db/queries/maintenance/differences';
import type { DifferenceOutcome } from '@gantry/model/host-states';

/** Returns the lines that an operator reads after a restore. */
export function describeDifferences(differences: Differences): string[] {
  const { missing, strays, orphans, lost, changed } = differences;
  const lines = [
    ...missing.map(
      ({ name, state, refusal, vms }) =>
        `host ${name} (VMs: ${vms}) has not accepted its spec: ${refusal || `it is ${state}`}`,
    ),
    ...strays.map(
      ({ host_id, address }) =>
        `stray: the host at ${address} has a certificate of host ${host_id}, which is not in the database`,
    ),
    ...orphans.map(
      ({ id, host, vm_id, name, project_id }) =>
        `orphan ${id}: host ${host} has VM ${vm_id} "${name}" of project ${project_id ?? '(unknown)'}`,
    ),
    ...lost.map(
      ({ vm_id, project_id, message }) => `lost: VM ${vm_id} of project ${project_id}: ${message}`,
    ),
    ...changed.filter(({ outcome }) => outcome !== 'lost').map(describeChange),
  ];
  if (lines.length === 0) return ['Hosts and database do not differ.'];
  const next =
    orphans.length === 0
      ? []
      : ['Give each orphan back or delete it: see docs/operators/recovery.md.'];
  return [...lines, ...next];
}

type Change = Differences['changed'][number];

const OUTCOMES: Record<DifferenceOutcome, string> = {
  pending: 'the host has not reported it yet',
  started: 'it was started again',
  lost: 'it is lost',
  gone: 'it was stopped or deleted since',
  none: '',
};

function describeChange(change: Change): string {
  const { host, kind, vm_id, project_id, disk_id, network_id, outcome } = change;
  const vm = `VM ${vm_id} of project ${project_id ?? '(deleted)'}`;
  switch (kind) {
    case 'absent':
      return `not running: host ${host} did not run ${vm}: ${OUTCOMES[outcome]}`;
    case 'ahead':
      return `ahead: host ${host} had started or reset ${vm} later; it runs on`;
    case 'vm_changed':
      return `changed: host ${host} had ${vm} with another name, type, device or address; it has those of the database`;
    case 'network_changed':
      return `changed: host ${host} had other rules or subnets of network ${network_id} of project ${project_id ?? '(deleted)'}; it has those of the database`;
    case 'disk_grown':
      return `disk: host ${host} had grown disk ${disk_id} of ${vm}; it keeps its size`;
    case 'disk_attached':
      return `disk: host ${host} had attached disk ${disk_id} to ${vm}; it is detached, and its data is kept`;
    case 'disk_detached':
      return `disk: host ${host} had detached disk ${disk_id} from ${vm}; it is attached again`;
    case 'disk_missing':
      return `disk: host ${host} does not have disk ${disk_id}${vm_id ? ` of ${vm}` : ''}; its data is lost`;
    case 'disk_unknown':
      return `disk: host ${host} has disk ${disk_id}, which is not in the database; its data is kept`;
  }
}
