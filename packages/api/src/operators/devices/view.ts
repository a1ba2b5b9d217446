import type { DeviceRow, HostDevice, PciFacts } from '@gantry/db/queries/hosts/admin-hosts';
import type { DeviceReadingRow } from '@gantry/db/queries/hosts/device-readings';

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

export function gpuView(row: HostDevice) {
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

export function driveView(row: HostDevice) {
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

export function deviceReadingView({ at, measured }: DeviceReadingRow) {
  return {
    at: at.toISOString(),
    link_speed_gts: measured['link_speed_gts'] ?? -1,
    link_width: measured['link_width'] ?? -1,
    correctable_errors: measured['correctable_errors'] ?? -1,
    nonfatal_errors: measured['nonfatal_errors'] ?? -1,
    fatal_errors: measured['fatal_errors'] ?? -1,
    corrected_memory_errors: measured['ecc_corrected_errors'] ?? -1,
    uncorrected_memory_errors: measured['ecc_uncorrected_errors'] ?? -1,
    wear_percent: measured['percentage_used'] ?? -1,
    spare_percent: measured['available_spare'] ?? -1,
    media_errors: measured['media_errors'] ?? -1,
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
