import type {
  CompanionKind,
  DeviceState,
  HostNumaNode,
  PlacementHost,
  StoredShare,
} from './host.ts';
import { requestFor, type VmTypeRow } from './request-for.ts';
import { sharesFor } from './shares-for.ts';

/** Hosts, devices and placed VMs as rows of the database. */
export type HostRows = {
  hosts: readonly HostRow[];
  devices: readonly DeviceRow[];
  vms: readonly PlacedVmRow[];
};

type HostRow = {
  id: string;
  location: string;
  state: string;
  admin_state: string;
  fenced: boolean;
  shared_storage: boolean;
  /** False: the bandwidth of types is no condition. */
  enforces_bandwidth: boolean;
  lacks_nesting: boolean;
  /** Whether it has an address in the storage network that no other host has. */
  reaches_volumes: boolean;
  /** How much larger its disks may become together. Null: there is no limit. */
  free_storage_gib: number | null;
  /** The hardware or software differs from what an operator accepted. */
  drifted: boolean;
  trouble: string;
  /** The total amounts of each node, whether or not a VM has claimed them. */
  numa_nodes: readonly HostNumaNode[];
};
type DeviceRow = {
  id: string;
  host_id: string;
  /** `gpu`, or a kind of companion. */
  kind: 'gpu' | CompanionKind;
  pci_address: string;
  numa_node: number;
  state: string;
  quarantine_reason: string;
  /** The device has a problem with severity `block`. */
  blocked: boolean;
  /** The first of these problems. Null if there is none. */
  problem: string | null;
  /** The VM that has claimed the device. */
  vm_id: string | null;
  model: string;
  size_gb: number;
  pcie_switch: string;
  iommu_group: number | null;
  /** A PCI address. Empty if there is no NVLink bridge. */
  nvlink_peer: string;
};
type PlacedVmRow = VmTypeRow & {
  vm_id: string;
  host_id: string;
  /** Null: they are derived from its GPUs. */
  numa_shares: readonly StoredShare[] | null;
};

/** Converts rows to hosts. The time is proportional to the number of rows. */
export function hostsFromRows(rows: HostRows): PlacementHost[] {
  const devices = byHost(rows.devices);
  const vms = byHost(rows.vms);
  return rows.hosts.map((host) =>
    hostFromRows(host, {
      devices: devices.get(host.id) ?? [],
      vms: vms.get(host.id) ?? [],
    }),
  );
}

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

function byHost<Row extends { host_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.host_id);
    if (group) group.push(row);
    else groups.set(row.host_id, [row]);
  }
  return groups;
}

function hostFromRows(row: HostRow, { devices, vms }: Omit<HostRows, 'hosts'>): PlacementHost {
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  const idAt = new Map(gpus.map(({ pci_address, id }) => [pci_address, id]));
  const host: PlacementHost = {
    id: row.id,
    location: row.location,
    ready: row.state === 'ready' && !row.fenced,
    adminState: row.admin_state,
    drifted: row.drifted,
    trouble: row.trouble,
    sharedStorage: row.shared_storage,
    lacksNesting: row.lacks_nesting,
    reachesVolumes: row.reaches_volumes,
    ...(row.free_storage_gib !== null && { freeStorageGib: row.free_storage_gib }),
    size: {
      cores: sum(row.numa_nodes.map(({ cores }) => cores)),
      memoryMib: sum(row.numa_nodes.map(({ memoryMib }) => memoryMib)),
    },
    numaNodes: row.enforces_bandwidth ? row.numa_nodes : row.numa_nodes.map(withoutLimit),
    gpus: gpus.map((gpu) => ({
      id: gpu.id,
      model: gpu.model,
      numaNode: gpu.numa_node,
      pcieSwitch: gpu.pcie_switch,
      iommuGroup: gpu.iommu_group,
      nvlinkPeer: idAt.get(gpu.nvlink_peer) ?? null,
      state: deviceState(gpu),
      ...problemOf(gpu),
    })),
    companions: devices.flatMap(({ kind, ...device }) =>
      kind === 'gpu'
        ? []
        : {
            id: device.id,
            kind,
            numaNode: device.numa_node,
            sizeGb: device.size_gb,
            state: deviceState(device),
            ...problemOf(device),
          },
    ),
  };
  return { ...host, numaNodes: freeAmounts(host, { gpus, vms }) };
}

function problemOf({ problem, quarantine_reason }: Omit<DeviceRow, 'kind'>) {
  const why = problem ?? quarantine_reason;
  return why === '' ? {} : { problem: why };
}

function withoutLimit(node: HostNumaNode): HostNumaNode {
  return { ...node, networkGbps: Number.POSITIVE_INFINITY };
}

/** A device that is not proven clean, has a problem or was quarantined by an operator takes no VM. */
function deviceState({
  state,
  quarantine_reason,
  blocked,
  vm_id,
}: Omit<DeviceRow, 'kind'>): DeviceState {
  if (state !== 'ready' || quarantine_reason !== '' || blocked) return 'quarantined';
  return vm_id === null ? 'free' : 'claimed';
}

function freeAmounts(
  host: PlacementHost,
  { gpus, vms }: { gpus: readonly DeviceRow[]; vms: HostRows['vms'] },
): HostNumaNode[] {
  const free = host.numaNodes.map((node) => ({ ...node }));
  for (const vm of vms) {
    const gpuIds = gpus.filter(({ vm_id }) => vm_id === vm.vm_id).map(({ id }) => id);
    const derived = sharesFor(host, gpuIds, requestFor(host.location, vm));
    for (const { node, cores, memoryMib } of vm.numa_shares ?? derived) {
      charge(free, { amount: 'cores', node, claimed: cores });
      charge(free, { amount: 'memoryMib', node, claimed: memoryMib });
    }
    for (const { node, networkGbps } of derived)
      charge(free, { amount: 'networkGbps', node, claimed: networkGbps });
  }
  return free;
}

type Claim = { amount: 'cores' | 'memoryMib' | 'networkGbps'; node: number; claimed: number };

/**
 * Subtracts a claim from its node. If the host does not have the node any more, because its firmware divides the
 * sockets in another way now, the nodes with the most left carry the claim, so that it is not lost.
 */
function charge(free: HostNumaNode[], { amount, node, claimed }: Claim): void {
  const own = free.find((one) => one.node === node);
  if (own) {
    own[amount] -= claimed;
    return;
  }
  let rest = claimed;
  for (const other of free.toSorted((a, b) => b[amount] - a[amount])) {
    const taken = Math.min(rest, Math.max(0, other[amount]));
    other[amount] -= taken;
    rest -= taken;
  }
}
