/** What placing looks at: a host as it is now, what a VM asks for, and the answer. */

export type DeviceState = 'free' | 'claimed' | 'quarantined';

export type HostGpu = {
  id: string;
  model: string;
  numaNode: number;
  /** Any name that GPUs behind the same switch share. */
  pcieSwitch: string;
  /** Null: the device is in no group, so it cannot be passed through. */
  iommuGroup: number | null;
  /** The GPU at the other end of an NVLink bridge. */
  nvlinkPeer: string | null;
  state: DeviceState;
};

/**
 * The kinds of devices that follow a VM's GPUs: GPUs choose the NUMA nodes, companions come from the
 * same nodes. Each kind has the filter that reports when there are too few of it, and the filters are
 * asked in this order.
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
};

export type CompanionRequest = {
  kind: CompanionKind;
  count: number;
  /** The least size of each; zero: any. */
  sizeGb: number;
};

/** The amounts are those no VM has. */
export type HostNumaNode = {
  node: number;
  cores: number;
  memoryMib: number;
  networkGbps: number;
};

export type PlacementHost = {
  id: string;
  location: string;
  /** Its agent is attached and has reported lately. */
  ready: boolean;
  /** Only `active` takes new VMs. */
  adminState: string;
  healthy: boolean;
  /** What the host is made of is not what operators accepted. */
  drifted: boolean;
  /** Its disks can be reached from every host of the location that says so; absent: from itself alone. */
  sharedStorage?: boolean;
  numaNodes: readonly HostNumaNode[];
  gpus: readonly HostGpu[];
  companions: readonly HostCompanion[];
};

/** All amounts are those of the whole VM. */
export type PlacementRequest = {
  location: string;
  gpuModel: string;
  gpuCount: number;
  cores: number;
  memoryMib: number;
  /** At most one entry of each kind. Empty: the VM gets GPUs alone. */
  companions: readonly CompanionRequest[];
  networkGbps: number;
  /** Rather GPUs of more NUMA nodes than it would need, slow for as long as it lives, than no host. */
  maySplit?: boolean;
};

/** What a VM has of one NUMA node. */
export type NodeShare = {
  node: number;
  gpus: number;
  cores: number;
  memoryMib: number;
  networkGbps: number;
};

export type Placement = {
  hostId: string;
  gpuIds: readonly string[];
  companionIds: readonly string[];
  numaNodes: readonly NodeShare[];
};

/** In the order they are asked; each sees only the hosts that the ones before it left. */
export const FILTERS = [
  'location',
  'schedulable',
  'gpu_model',
  'gpu_count',
  'iommu_groups',
  'numa_nodes',
  'cores',
  'memory',
  'network',
  ...Object.values(COMPANION_FILTERS),
] as const;
export type Filter = (typeof FILTERS)[number];

/** A host that answers false takes nothing new, whatever is free on it. */
export function isSchedulable(host: PlacementHost): boolean {
  return host.ready && host.adminState === 'active' && host.healthy && !host.drifted;
}
