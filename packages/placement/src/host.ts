/** The input and output of placement: a host as it is now, a VM's request, and a placement. */

export type DeviceState = 'free' | 'claimed' | 'quarantined';

export type HostGpu = {
  id: string;
  model: string;
  /** `UNKNOWN_NODE`: the firmware names none. */
  numaNode: number;
  /** Equal for GPUs behind the same PCIe switch. */
  pcieSwitch: string;
  /** Null if the device is in no IOMMU group: it cannot be passed through to a VM. */
  iommuGroup: number | null;
  /** The GPU at the other end of its NVLink bridge: a VM gets both or none. Null: there is no bridge. */
  nvlinkPeer: string | null;
  state: DeviceState;
  /** Why it is quarantined, for operators. Absent: not known, or it is not. */
  problem?: string;
};

/**
 * The kinds of devices that follow a VM's GPUs: GPUs choose the NUMA nodes, companions come from the
 * same nodes or from the nearest ones that have some. Each kind has the filter that reports when there
 * are too few of it, and the filters are asked in this order.
 */
export const COMPANION_FILTERS = { drive: 'drives' } as const;
export type CompanionKind = keyof typeof COMPANION_FILTERS;
export const COMPANION_KINDS = Object.keys(COMPANION_FILTERS) as CompanionKind[];

export type HostCompanion = {
  id: string;
  kind: CompanionKind;
  numaNode: number;
  /** Zero for a kind that has no size. */
  sizeGb: number;
  state: DeviceState;
  /** As that of a GPU. */
  problem?: string;
};

export type CompanionRequest = {
  kind: CompanionKind;
  count: number;
  /** The minimum size of each device. Zero: any size. */
  sizeGb: number;
};

/** The NUMA node of devices for which the firmware names none. */
export const UNKNOWN_NODE = -1;

/** The amounts are those that are not claimed by a VM. */
export type HostNumaNode = {
  node: number;
  /** Absent: not known; the node counts as a socket of its own. */
  socket?: number;
  /** To all nodes of the host, by number. Absent: all are equally far. */
  distances?: readonly number[];
  cores: number;
  memoryMib: number;
  /** Its part of the host's links, which all VMs share. Infinity: the host does not enforce bandwidth. */
  networkGbps: number;
};

/** The cores and memory that a host has for VMs, whether or not a VM has claimed them. */
export type HostSize = { cores: number; memoryMib: number };

export type PlacementHost = {
  id: string;
  location: string;
  /** The agent is connected and has reported recently, and the host is not fenced. */
  ready: boolean;
  /** A host takes new VMs only if this is `active`. */
  adminState: string;
  /** The hardware or software differs from what an operator accepted. */
  drifted: boolean;
  /** Why it takes no new VMs although it is connected; empty if it does. */
  trouble: string;
  /** All hosts of a location that set this share one disk storage. Otherwise disks are local. */
  sharedStorage?: boolean;
  /** Its guests cannot run VMs themselves. Absent: they can. */
  lacksNesting?: boolean;
  /** It has an address in the storage network that no other host has. Absent: it has none. */
  reachesVolumes?: boolean;
  /** How much larger its disks may become together; below zero if they are too large. Absent: there is no limit. */
  freeStorageGib?: number;
  size: HostSize;
  numaNodes: readonly HostNumaNode[];
  gpus: readonly HostGpu[];
  companions: readonly HostCompanion[];
};

/** All amounts are for the whole VM. */
export type PlacementRequest = {
  location: string;
  gpuModel: string;
  gpuCount: number;
  cores: number;
  memoryMib: number;
  /** At most one entry per kind. Empty: the VM gets only GPUs. */
  companions: readonly CompanionRequest[];
  networkGbps: number;
  /** The size of the disks that its host would create. Absent: none. */
  newDisksGib?: number;
  /**
   * If no host has enough GPUs on the fewest possible sockets, use more sockets instead of failing.
   * Such a VM is slower for its whole life.
   */
  maySplit?: boolean;
  /** A storage cluster stores some of its disks. Absent: none. */
  hasVolumes?: boolean;
  /** The guest runs VMs itself. Absent: it does not. */
  nested?: boolean;
};

/** The part of one NUMA node that a VM has. */
export type NodeShare = {
  node: number;
  /** GPUs whose node is not known are in no share. */
  gpus: number;
  cores: number;
  memoryMib: number;
  networkGbps: number;
};

/** The part of a share that is stored with the placement. */
export type StoredShare = Pick<NodeShare, 'node' | 'cores' | 'memoryMib'>;

export type Placement = {
  hostId: string;
  gpuIds: readonly string[];
  companionIds: readonly string[];
  numaNodes: readonly NodeShare[];
  /** The size of the disks that the host creates for it. Absent: none. */
  newDisksGib?: number;
};

/** In order of evaluation. Each filter sees only the hosts that passed the filters before it. */
export const FILTERS = [
  'location',
  'schedulable',
  'gpu_model',
  'nested_virtualization',
  'gpu_count',
  'iommu_groups',
  'nvlink_pairs',
  'numa_nodes',
  'cores',
  'memory',
  'network',
  ...Object.values(COMPANION_FILTERS),
  'disk_space',
  'storage_network',
] as const;
export type Filter = (typeof FILTERS)[number];

/** Returns whether the host may take new VMs at all, regardless of its free resources. */
export function isSchedulable(host: PlacementHost): boolean {
  return host.ready && host.adminState === 'active' && !host.drifted && host.trouble === '';
}
