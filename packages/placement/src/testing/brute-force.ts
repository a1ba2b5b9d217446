import { type Fit, fitRequest } from '../fit.ts';
import { type HostGpu, isSchedulable, type PlacementHost, type PlacementRequest } from '../host.ts';
import { stateOf } from '../host-state.ts';
import { gpuViews } from '../layout/gpu-view.ts';
import { newLayoutStore } from '../layout/layout.ts';

/** Returns the best fit of one host without an index, or null. The index must agree with it. */
export function fitOf(host: PlacementHost, request: PlacementRequest): Fit | null {
  if (host.location !== request.location || !isSchedulable(host)) return null;
  if (!isRoomy(host, request)) return null;
  const state = stateOf(newLayoutStore(), host);
  const view = gpuViews(state.layout, request.gpuModel).at(state.freeMask);
  const fit = fitRequest(state, view, request);
  return 'failed' in fit ? null : fit;
}

/**
 * Returns whether the host can take the VM, by the rules alone: whole IOMMU groups and NVLink pairs on the fewest sockets, and enough
 * of everything else anywhere on the host. Amounts of memory must be multiples of a page.
 */
export function canTake(host: PlacementHost, request: PlacementRequest): boolean {
  if (host.location !== request.location || !isSchedulable(host)) return false;
  if (request.nested && host.lacksNesting) return false;
  if (request.hasVolumes && !host.reachesVolumes) return false;
  const total = (amount: 'cores' | 'memoryMib') =>
    host.numaNodes.reduce((sum, node) => sum + Math.max(0, node[amount]), 0);
  const gbps = host.numaNodes.reduce((sum, { networkGbps }) => sum + networkGbps, 0);
  if (total('cores') < request.cores || total('memoryMib') < request.memoryMib) return false;
  if (gbps < request.networkGbps || !isRoomy(host, request)) return false;
  for (const { kind, count, sizeGb } of request.companions) {
    const enough = host.companions.filter(
      (one) => one.kind === kind && one.state === 'free' && one.sizeGb >= sizeGb,
    );
    if (enough.length < count) return false;
  }
  const isFree = ({ state }: HostGpu) => state === 'free';
  const sockets = fewestSockets(host, request, isFree);
  if (sockets === null) return false;
  return request.maySplit || sockets <= (fewestSockets(host, request, () => true) ?? 0);
}

function isRoomy(
  { freeStorageGib = Number.POSITIVE_INFINITY }: PlacementHost,
  { newDisksGib }: PlacementRequest,
): boolean {
  return !newDisksGib || freeStorageGib >= newDisksGib;
}

/** Tries every set of IOMMU groups whose GPUs are all of the model and usable. */
function fewestSockets(
  host: PlacementHost,
  { gpuModel, gpuCount }: PlacementRequest,
  isUsable: (gpu: HostGpu) => boolean,
): number | null {
  const groups = [...new Set(host.gpus.map(({ iommuGroup }) => iommuGroup))]
    .map((group) => host.gpus.filter(({ iommuGroup }) => iommuGroup === group && group !== null))
    .filter((gpus) => gpus.length > 0)
    .filter((gpus) => gpus.every((gpu) => gpu.model === gpuModel && isUsable(gpu)));
  const socketOf = ({ numaNode }: HostGpu) =>
    host.numaNodes.find(({ node }) => node === numaNode)?.socket ?? `node ${numaNode}`;
  let fewest: number | null = null;
  for (let set = 0; set < 2 ** groups.length; set += 1) {
    const gpus = groups.filter((_, i) => set & (1 << i)).flat();
    if (gpus.length !== gpuCount || splitsPair(host, gpus)) continue;
    fewest = Math.min(fewest ?? gpuCount, new Set(gpus.map(socketOf)).size);
  }
  return fewest;
}

function splitsPair(host: PlacementHost, gpus: readonly HostGpu[]): boolean {
  const peerOf = ({ id, nvlinkPeer }: HostGpu) =>
    host.gpus.find((gpu) => gpu.id === nvlinkPeer && gpu.nvlinkPeer === id);
  return gpus.some((gpu) => {
    const peer = peerOf(gpu);
    return peer !== undefined && peer.iommuGroup !== null && !gpus.includes(peer);
  });
}

/** Returns the lowest score of all hosts, computed by visiting each of them. */
export function leastScore(
  hosts: readonly PlacementHost[],
  request: PlacementRequest,
): number | null {
  const scores = hosts.flatMap((host) => fitOf(host, request)?.score ?? []);
  return scores.length === 0 ? null : Math.min(...scores);
}
