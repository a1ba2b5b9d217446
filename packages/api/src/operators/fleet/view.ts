import type {
  CapacitySampleRow,
  FleetGroupRow,
  FleetHostRow,
  FleetRows,
} from '@gantry/db/queries/operators/fleet-gpus';
import { groupBy } from '@gantry/model/group-by';

export function fleetView({ hosts, groups }: FleetRows) {
  const groupsOf = groupBy(groups, ({ host_id }) => host_id);
  return { hosts: hosts.map((host) => fleetHostView(host, groupsOf.get(host.id) ?? [])) };
}

function fleetHostView(row: FleetHostRow, groups: FleetGroupRow[]) {
  const vms = new Map<string, { position: number; name: string }>();
  for (const { vm_ids, vm_names } of groups) {
    vm_ids.forEach((id, index) => {
      if (id !== '' && !vms.has(id))
        vms.set(id, { position: vms.size, name: vm_names[index] ?? '' });
    });
  }
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    rack: row.labels['rack'] ?? '',
    state: row.state,
    admin_state: row.admin_state,
    closed_reason: closedReason(row),
    gpus: groups.map((group) => ({
      numa_node: group.numa_node,
      pcie_switch: group.pcie_switch,
      model: group.model,
      addresses: group.addresses,
      states: group.uses,
      vms: group.vm_ids.map((id) => vms.get(id)?.position ?? -1),
    })),
    vms: [...vms].map(([id, { name }]) => ({ id, name })),
  };
}

/** The most serious reason comes first. */
function closedReason(row: FleetHostRow): string {
  if (row.fenced || row.state === 'fenced') return 'it was declared dead';
  if (row.state === 'unreachable') return 'it is unreachable';
  if (row.awaits_era) return 'it has not reported since the database lost commits';
  if (row.trouble !== '') return row.trouble;
  if (row.drifted) return 'it has drifted from what an operator accepted';
  if (row.admin_state === 'draining') return 'it is draining';
  return row.admin_state === 'cordoned' ? 'it is cordoned' : '';
}

export function capacitySampleView({ at, ...capacity }: CapacitySampleRow) {
  return { at: at.toISOString(), ...capacity };
}
