import type { CompanionKind, HostCompanion, HostGpu, HostSize, PlacementHost } from '../host.ts';
import { type Reach, reachOf } from './reach.ts';

/**
 * The part of a host that does not change when VMs are placed or removed, by position instead of by
 * id. Hosts of one server model share one layout, so anything derived from a layout is computed once
 * for all of them. A set of GPUs is a bit mask over the layout's positions.
 */
export type Layout = {
  /** NUMA node numbers. Everywhere else, a node is an index into this list. */
  nodes: readonly number[];
  reach: Reach;
  fullMask: number;
  /** The cores and memory of the whole host, divided by its GPUs. */
  perGpu: HostSize;
  units: readonly Unit[];
  /** The IOMMU groups alone: the same list as `units` if no NVLink bridge joins two of them. */
  groups: readonly Unit[];
  modelMasks: ReadonlyMap<string, number>;
  companionGroups: readonly CompanionGroup[];
  lacksNesting: boolean;
};

/**
 * GPUs that a VM gets together or not at all: those of one IOMMU group, and those that NVLink bridges join to them. A
 * bridge between the GPUs of two VMs could let each reach the memory of the other.
 */
export type Unit = {
  mask: number;
  size: number;
  /** That of its first GPU: bridges join neighbours. */
  node: number;
  /** One for each GPU. */
  switchNames: readonly string[];
};

/** Interchangeable companions. Groups are ordered by node, kind and size. */
export type CompanionGroup = {
  node: number;
  kind: CompanionKind;
  sizeGb: number;
  mask: number;
};

/** A bit mask of this many devices is a small, non-negative integer. */
const MOST_DEVICES = 30;

/** More than the memory of equal servers differs by. */
const MEMORY_STEP_MIB = 8_192;

export type LayoutStore = { byKey: Map<string, Layout> };

export function newLayoutStore(): LayoutStore {
  return { byKey: new Map() };
}

/** The order by node, switch and IOMMU group gives equal servers equal layouts. */
export function orderGpus(host: PlacementHost): HostGpu[] {
  const ordered = host.gpus.toSorted(
    (a, b) =>
      a.numaNode - b.numaNode ||
      compareText(a.pcieSwitch, b.pcieSwitch) ||
      (a.iommuGroup ?? -1) - (b.iommuGroup ?? -1),
  );
  return ordered.slice(0, MOST_DEVICES);
}

/** Orders companions by node, kind and size. Devices that do not fit into a mask are not offered. */
export function orderCompanions(host: PlacementHost): HostCompanion[] {
  const ordered = host.companions.toSorted(
    (a, b) => a.numaNode - b.numaNode || compareText(a.kind, b.kind) || a.sizeGb - b.sizeGb,
  );
  return ordered.slice(0, MOST_DEVICES);
}

export function layoutOf(store: LayoutStore, host: PlacementHost): Layout {
  const gpus = orderGpus(host);
  const nodes = nodesOf(host);
  const companionGroups = companionGroupsOf(host, nodes);
  const places = new Map(gpus.map((gpu, i) => [gpu.id, i]));
  // The numbers of groups and switches differ between equal servers, but the sets of GPUs that
  // share one do not.
  const first = (same: (other: HostGpu) => boolean) => gpus.findIndex(same);
  const shape = gpus.map((gpu) => [
    gpu.model,
    gpu.numaNode,
    first((other) => other.numaNode === gpu.numaNode && other.pcieSwitch === gpu.pcieSwitch),
    gpu.iommuGroup === null ? null : first((other) => other.iommuGroup === gpu.iommuGroup),
    places.get(gpu.nvlinkPeer ?? '') ?? null,
  ]);
  const perGpu = perGpuOf(host);
  const reach = reachOf(nodes, host.numaNodes);
  const { lacksNesting = false } = host;
  const key = JSON.stringify([
    nodes,
    reach.nearest,
    reach.socketOf,
    companionGroups,
    shape,
    perGpu,
    lacksNesting,
  ]);
  const known = store.byKey.get(key);
  if (known) return known;
  const groups = groupsOf(gpus);
  const bridged = joinBridged(groups, gpus, places);
  const toUnit = (positions: readonly number[]) => unitOf(positions, gpus, nodes);
  const units = bridged.map(toUnit);
  const made: Layout = {
    nodes,
    reach,
    fullMask: 2 ** gpus.length - 1,
    perGpu,
    units,
    groups: bridged === groups ? units : groups.map(toUnit),
    modelMasks: modelMasksOf(gpus),
    companionGroups,
    lacksNesting,
  };
  store.byKey.set(key, made);
  return made;
}

/** Rounded, so that equal servers get equal layouts. Never zero, because others divide by it. */
function perGpuOf({ size, gpus }: PlacementHost): HostSize {
  const count = Math.max(1, gpus.length);
  const memorySteps = Math.round(size.memoryMib / MEMORY_STEP_MIB);
  return {
    cores: Math.max(1, size.cores) / count,
    memoryMib: (Math.max(1, memorySteps) * MEMORY_STEP_MIB) / count,
  };
}

/** Includes nodes that have devices but neither cores nor memory. */
function nodesOf(host: PlacementHost): number[] {
  const numbers = [...host.numaNodes.map(({ node }) => node)];
  for (const { numaNode } of [...host.gpus, ...host.companions]) numbers.push(numaNode);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function companionGroupsOf(host: PlacementHost, nodes: number[]): CompanionGroup[] {
  const groups: CompanionGroup[] = [];
  orderCompanions(host).forEach(({ numaNode, kind, sizeGb }, i) => {
    const node = nodes.indexOf(numaNode);
    const last = groups.at(-1);
    const isSame = last?.node === node && last.kind === kind && last.sizeGb === sizeGb;
    if (isSame) last.mask |= 1 << i;
    else groups.push({ node, kind, sizeGb, mask: 1 << i });
  });
  return groups;
}

/** The positions of the GPUs of each IOMMU group. */
function groupsOf(gpus: HostGpu[]): number[][] {
  const groups = new Map<number, number[]>();
  gpus.forEach(({ iommuGroup }, i) => {
    if (iommuGroup !== null) groups.set(iommuGroup, [...(groups.get(iommuGroup) ?? []), i]);
  });
  return [...groups.values()];
}

/**
 * Joins the groups that contain the two ends of a bridge. Each end must name the other: a GPU that is missing keeps the
 * peer that it had. Returns the same list if there are no bridges.
 */
function joinBridged(groups: number[][], gpus: HostGpu[], places: Map<string, number>): number[][] {
  const peers = gpus.map(({ id, nvlinkPeer }) => {
    const peer = places.get(nvlinkPeer ?? '');
    return peer !== undefined && gpus[peer]?.nvlinkPeer === id ? peer : -1;
  });
  if (peers.every((peer) => peer < 0)) return groups;
  let joined: number[][] = [];
  for (const group of groups) {
    const isJoined = (other: number[]) => other.some((i) => group.includes(peers[i] ?? -1));
    const unit = [...joined.filter(isJoined).flat(), ...group].sort((a, b) => a - b);
    joined = [...joined.filter((other) => !isJoined(other)), unit];
  }
  return joined;
}

function unitOf(positions: readonly number[], gpus: HostGpu[], nodes: number[]): Unit {
  return {
    mask: positions.reduce((mask, i) => mask | (1 << i), 0),
    size: positions.length,
    node: nodes.indexOf(gpus[positions[0] ?? 0]?.numaNode ?? 0),
    switchNames: positions.map((i) => gpus[i]?.pcieSwitch ?? ''),
  };
}

function modelMasksOf(gpus: HostGpu[]): Map<string, number> {
  const masks = new Map<string, number>();
  gpus.forEach(({ model }, i) => {
    masks.set(model, (masks.get(model) ?? 0) | (1 << i));
  });
  return masks;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
