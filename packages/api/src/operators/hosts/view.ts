import type {
  DeviceRow,
  HostCertificate,
  HostDetailsRow,
  HostDevice,
  HostRow,
  PciFacts,
} from '@gantry/db/queries/admin-hosts';

export function hostView(row: HostRow) {
  const { agent = '', os = '', kernel = '', firmware = '', libvirt = '' } = row.software ?? {};
  const { commandLine = '', iommu = '' } = row.software ?? {};
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    state: row.state,
    admin_state: row.admin_state,
    connected: row.connected,
    last_seen_at: row.last_seen_at?.toISOString() ?? '',
    fenced_at: row.fenced_at?.toISOString() ?? '',
    created_at: row.created_at.toISOString(),
    agent_version: agent,
    software: { os, kernel, firmware, libvirt, command_line: commandLine, iommu },
    drift: row.drift,
    shared_storage: row.shared_storage,
    wanted_number: Number(row.wanted_number),
    accepted_number: Number(row.accepted_number),
    refusal: row.refusal,
    unknown_vms: row.unknown_vms,
    numa_nodes: row.numa_nodes.map(({ node, cores, memoryMib, networkGbps }) => {
      return { node, cores, memory_mib: memoryMib, network_gbps: networkGbps };
    }),
    gpus: row.devices.filter(({ kind }) => kind === 'gpu').map(gpuView),
    drives: row.devices.filter(({ kind }) => kind === 'drive').map(driveView),
    vm_count: row.vm_count,
  };
}

export function hostDetailsView(row: HostDetailsRow) {
  return {
    ...hostView(row),
    certificates: row.certificates.map(certificateView),
    vms: row.vms,
  };
}

export function drainingHostView(row: HostDetailsRow) {
  return { ...hostDetailsView(row), remaining_vms: row.vms };
}

export function deviceView(row: DeviceRow) {
  return {
    id: row.id,
    kind: row.kind,
    host_id: row.host_id,
    pci_address: row.pci_address,
    state: row.state,
    state_reason: row.state_reason,
    quarantine_reason: row.quarantine_reason,
    problems: row.problems,
  };
}

function certificateView(row: HostCertificate) {
  return {
    serial: row.serial,
    not_after: new Date(row.not_after).toISOString(),
    created_at: new Date(row.created_at).toISOString(),
    revoked_at: row.revoked_at === null ? '' : new Date(row.revoked_at).toISOString(),
  };
}

function gpuView(row: HostDevice) {
  return {
    id: row.id,
    pci_address: row.pci_address,
    model: row.model,
    numa_node: row.numa_node,
    pcie_switch: row.pcie_switch,
    iommu_group: row.iommu_group ?? -1,
    nvlink_peer: row.nvlink_peer,
    state: row.state,
    state_reason: row.state_reason,
    quarantine_reason: row.quarantine_reason,
    problems: row.problems,
    vm_id: row.vm_id ?? '',
    health: healthView(row.pci),
  };
}

function driveView(row: HostDevice) {
  return {
    id: row.id,
    pci_address: row.pci_address,
    serial: row.serial,
    size_gb: row.size_gb,
    uses: row.uses,
    numa_node: row.numa_node,
    state: row.state,
    state_reason: row.state_reason,
    quarantine_reason: row.quarantine_reason,
    problems: row.problems,
    vm_id: row.vm_id ?? '',
    health: healthView(row.pci),
  };
}

function healthView(pci: PciFacts | null) {
  return {
    driver: pci?.driver ?? '',
    reset_methods: pci?.resetMethods ?? [],
    link_speed_gts: pci?.link?.speedGts ?? -1,
    max_link_speed_gts: pci?.link?.maxSpeedGts ?? -1,
    link_width: pci?.link?.width ?? -1,
    max_link_width: pci?.link?.maxWidth ?? -1,
    correctable_errors: Number(pci?.aer?.correctable ?? -1),
    nonfatal_errors: Number(pci?.aer?.nonfatal ?? -1),
    fatal_errors: Number(pci?.aer?.fatal ?? -1),
  };
}
