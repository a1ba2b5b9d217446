import { GIB } from '@gantry/daemon/units';
import type {
  HostCertificate,
  HostDetailsRow,
  HostRow,
  StoragePoolFacts,
} from '@gantry/db/queries/hosts/admin-hosts';
import type { DiskType } from '@gantry/model/states';
import { hostDevices } from '../devices/device-lists.ts';

/** By the names of the wire. */
const DISK_TYPE_OF: Record<string, DiskType> = {
  DISK_KIND_PERSISTENT_SSD: 'persistent-ssd',
  DISK_KIND_SHARED_VOLUME: 'shared-volume',
};

export function hostView(row: HostRow) {
  const { agent = '', os = '', kernel = '', firmware = '', libvirt = '' } = row.software ?? {};
  const { commandLine = '', iommu = '', capabilities = [] } = row.software ?? {};
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    state: row.state,
    admin_state: row.admin_state,
    connected: row.connected,
    last_seen_at: row.last_seen_at?.toISOString() ?? '',
    fenced_at: row.fenced_at?.toISOString() ?? '',
    storage_address: row.storage_address ?? '',
    storage_fences: row.storage_fences,
    storage_fence_problem: row.storage_fence_problem,
    created_at: row.created_at.toISOString(),
    agent_version: agent,
    agent_capabilities: capabilities,
    software: { os, kernel, firmware, libvirt, command_line: commandLine, iommu },
    drift: row.drift,
    labels: row.labels,
    shared_storage: row.shared_storage,
    enforces_bandwidth: row.enforces_bandwidth,
    lacks_nesting: row.lacks_nesting,
    wanted_number: Number(row.wanted_number),
    accepted_number: Number(row.accepted_number),
    refusal: row.refusal,
    trouble: row.trouble,
    unknown_vms: row.unknown_vms,
    unresponsive_vms: row.unresponsive_vms.map(({ vmId, message, since }) => {
      return { vm_id: vmId, message, since: since ?? '' };
    }),
    storage_pools: (row.storage_pools ?? []).map(storagePoolView),
    disks_gib: row.disks_gib,
    numa_nodes: row.numa_nodes.map(({ node, cores, memoryMib, networkGbps }) => {
      return { node, cores, memory_mib: memoryMib, network_gbps: networkGbps };
    }),
    ...hostDevices(row.devices),
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

function storagePoolView(pool: StoragePoolFacts) {
  const gib = (bytes: string) => Math.floor(Number(bytes) / GIB);
  return {
    name: pool.name,
    disk_types: pool.diskKinds.flatMap((kind) => DISK_TYPE_OF[kind] ?? []),
    size_gib: gib(pool.sizeBytes),
    free_gib: gib(pool.freeBytes),
    offered_gib: gib(pool.offeredBytes),
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
