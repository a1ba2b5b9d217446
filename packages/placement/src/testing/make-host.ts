import type { HostGpu, PlacementHost, PlacementRequest } from '../host.ts';

export type HostPlan = {
  id: string;
  model: string;
  location: string;
  gpus: number;
  nodes: number;
  gpusPerSwitch: number;
  coresPerGpu: number;
  memoryMibPerGpu: number;
  networkGbpsPerGpu: number;
  /** The size of each drive; there is one drive per GPU. Zero: no drives. */
  driveGb: number;
  /** Each pair of neighbours behind a switch has an NVLink bridge. */
  bridged: boolean;
};

/** A server with two NUMA nodes of four GPUs each; every two GPUs share a PCIe switch. */
const PLAN: HostPlan = {
  id: 'host',
  model: 'A40',
  location: 'one',
  gpus: 8,
  nodes: 2,
  gpusPerSwitch: 2,
  coresPerGpu: 6,
  memoryMibPerGpu: 61_440,
  networkGbpsPerGpu: 25,
  driveGb: 960,
  bridged: false,
};

export function makeHost(given: Partial<HostPlan> = {}): PlacementHost {
  const plan = { ...PLAN, ...given };
  const perNode = Math.ceil(plan.gpus / plan.nodes);
  const nodeOf = (i: number) => Math.floor(i / perNode);
  const switchOf = (i: number) => `s${nodeOf(i)}-${Math.floor((i % perNode) / plan.gpusPerSwitch)}`;
  const gpus = Array.from({ length: plan.gpus }, (_, i): HostGpu => {
    const onSwitch = (i % perNode) % plan.gpusPerSwitch;
    const peer = onSwitch % 2 === 0 ? i + 1 : i - 1;
    const hasPeer = plan.bridged && peer < plan.gpus && switchOf(peer) === switchOf(i);
    return {
      id: `${plan.id}-g${i}`,
      model: plan.model,
      numaNode: nodeOf(i),
      pcieSwitch: switchOf(i),
      iommuGroup: i,
      nvlinkPeer: hasPeer ? `${plan.id}-g${peer}` : null,
      state: 'free',
    };
  });
  return {
    id: plan.id,
    location: plan.location,
    ready: true,
    adminState: 'active',
    drifted: false,
    trouble: '',
    size: {
      cores: plan.coresPerGpu * perNode * plan.nodes,
      memoryMib: plan.memoryMibPerGpu * perNode * plan.nodes,
    },
    numaNodes: Array.from({ length: plan.nodes }, (_, node) => ({
      node,
      cores: plan.coresPerGpu * perNode,
      memoryMib: plan.memoryMibPerGpu * perNode,
      networkGbps: plan.networkGbpsPerGpu * perNode,
    })),
    gpus,
    companions: (plan.driveGb > 0 ? gpus : []).map(({ numaNode }, i) => ({
      id: `${plan.id}-d${i}`,
      kind: 'drive',
      numaNode,
      sizeGb: plan.driveGb,
      state: 'free',
    })),
  };
}

/** The request of a VM with this many GPUs and its proportional part of such a server. */
export function makeRequest(
  gpuCount: number,
  given: Partial<PlacementRequest> = {},
): PlacementRequest {
  return {
    location: PLAN.location,
    gpuModel: PLAN.model,
    gpuCount,
    cores: PLAN.coresPerGpu * gpuCount,
    memoryMib: PLAN.memoryMibPerGpu * gpuCount,
    companions: [{ kind: 'drive', count: gpuCount, sizeGb: PLAN.driveGb }],
    networkGbps: PLAN.networkGbpsPerGpu * gpuCount,
    ...given,
  };
}
