import type {
  DeviceRow,
  HostDrive,
  HostGpu,
  HostRow,
  PlacedVm,
} from '@gantry/db/queries/admin-hosts';

export function hostView(row: HostRow) {
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    state: row.state,
    admin_state: row.admin_state,
    last_seen_at: row.last_seen_at?.toISOString() ?? '',
    created_at: row.created_at.toISOString(),
    gpus: row.gpus.map(gpuView),
    drives: row.drives.map(driveView),
    vm_count: row.vm_count,
  };
}

export function drainingHostView({ host, remaining }: { host: HostRow; remaining: PlacedVm[] }) {
  return {
    ...hostView(host),
    remaining_vms: remaining.map(({ id, project_id, name, state }) => {
      return { id, project_id, name, state };
    }),
  };
}

export function deviceView(row: DeviceRow) {
  return {
    id: row.id,
    kind: row.kind,
    host_id: row.host_id,
    pci_address: row.pci_address,
    state: row.state,
    quarantine_reason: row.quarantine_reason,
  };
}

function gpuView(row: HostGpu) {
  return {
    id: row.id,
    pci_address: row.pci_address,
    model: row.model,
    numa_node: row.numa_node,
    state: row.state,
    quarantine_reason: row.quarantine_reason,
    vm_id: row.vm_id ?? '',
  };
}

function driveView(row: HostDrive) {
  return {
    id: row.id,
    pci_address: row.pci_address,
    size_gb: row.size_gb,
    numa_node: row.numa_node,
    state: row.state,
    quarantine_reason: row.quarantine_reason,
    vm_id: row.vm_id ?? '',
  };
}
