import { fitRequest } from './fit.ts';
import {
  COMPANION_FILTERS,
  type DeviceState,
  type Filter,
  isSchedulable,
  type Placement,
  type PlacementHost,
  type PlacementRequest,
} from './host.ts';
import { lackingStorage, stateOf } from './host-state.ts';
import { gpuViews } from './layout/gpu-view.ts';
import { type LayoutStore, newLayoutStore } from './layout/layout.ts';
import { placementOn } from './placement-on.ts';

/** The placement on this host, or the first filter that the host does not pass and the reason. */
export type HostExplanation = { placement: Placement } | { failed: Filter; because: string };

export function explainHost(host: PlacementHost, request: PlacementRequest): HostExplanation {
  return explainWith(newLayoutStore(), host, request);
}

/** Equal servers have the same layout, which is computed once for all of them. */
export function explainHosts(
  hosts: readonly PlacementHost[],
  request: PlacementRequest,
): { hostId: string; explanation: HostExplanation }[] {
  const layouts = newLayoutStore();
  return hosts.map((host) => ({
    hostId: host.id,
    explanation: explainWith(layouts, host, request),
  }));
}

function explainWith(
  layouts: LayoutStore,
  host: PlacementHost,
  request: PlacementRequest,
): HostExplanation {
  if (host.location !== request.location)
    return { failed: 'location', because: `the host is in ${host.location}` };
  if (!isSchedulable(host)) return { failed: 'schedulable', because: whyUnschedulable(host) };
  const ofModel = host.gpus.filter(({ model }) => model === request.gpuModel);
  if (ofModel.length === 0)
    return { failed: 'gpu_model', because: `the host has no ${request.gpuModel}` };
  const state = stateOf(layouts, host);
  const view = gpuViews(state.layout, request.gpuModel).at(state.freeMask);
  const fit = fitRequest(state, view, request);
  if ('failed' in fit) return { failed: fit.failed, because: whyNoFit(host, request, fit.failed) };
  const failed = lackingStorage(state, request);
  if (failed) return { failed, because: whyNoFit(host, request, failed) };
  return { placement: placementOn({ state, view, fit }, request) };
}

function whyUnschedulable(host: PlacementHost): string {
  const causes: string[] = [];
  if (!host.ready) causes.push('it is not reachable');
  if (host.adminState !== 'active') causes.push(`it is ${host.adminState}`);
  if (host.drifted) causes.push('it has drifted from what an operator accepted');
  if (host.trouble !== '') causes.push(host.trouble);
  return causes.join('; ');
}

function whyNoFit(host: PlacementHost, request: PlacementRequest, failed: Filter): string {
  const ofModel = host.gpus.filter(({ model }) => model === request.gpuModel);
  const perNode = (amount: (node: PlacementHost['numaNodes'][number]) => number) =>
    host.numaNodes.map((node) => `${amount(node)} on node ${node.node}`).join(', ');
  switch (failed) {
    case 'nested_virtualization':
      return 'the VM type has nested virtualization, which KVM of the host does not offer';
    case 'gpu_count':
      return `${request.gpuCount} GPUs requested; ${countStates(ofModel)}`;
    case 'iommu_groups':
      return `${request.gpuCount} GPUs requested; no set of free IOMMU groups has exactly that many`;
    case 'nvlink_pairs':
      return `${request.gpuCount} GPUs requested; NVLink bridges join the free ones, and a VM gets both GPUs of a bridge or none`;
    case 'numa_nodes':
      return `${request.gpuCount} GPUs requested together; the free ones are on too many sockets`;
    case 'cores':
      return `${request.cores} cores requested; free: ${perNode(({ cores }) => cores)}`;
    case 'memory':
      return `${request.memoryMib} MiB requested; free: ${perNode(({ memoryMib }) => memoryMib)}`;
    case 'network':
      return `${request.networkGbps} Gbps requested; free: ${sum(host.numaNodes.map(({ networkGbps }) => networkGbps))}`;
    case 'disk_space':
      return `${request.newDisksGib ?? 0} GiB of new disks requested; free: ${Math.max(0, host.freeStorageGib ?? 0)} GiB`;
    case 'storage_network':
      return 'the VM has disks in a storage cluster; the host has no address in the storage network, another host has the same, or a cluster has it fenced';
    default: {
      const requested = request.companions.find(({ kind }) => COMPANION_FILTERS[kind] === failed);
      if (!requested) throw new Error(`BUG: a fit cannot fail for ${failed}`);
      const { count, sizeGb } = requested;
      const what = sizeGb > 0 ? `${failed} of ${sizeGb} GB` : failed;
      const large = host.companions.filter(
        (one) => one.kind === requested.kind && one.sizeGb >= sizeGb,
      );
      return `${count} ${what} requested; ${countStates(large)}`;
    }
  }
}

type Device = { state: DeviceState; problem?: string };

/** "6 free, 1 claimed, 1 quarantined: it fell off the bus" */
function countStates(devices: readonly Device[]): string {
  const count = (state: DeviceState) => devices.filter((one) => one.state === state).length;
  const problems = [...new Set(devices.flatMap(({ problem }) => problem ?? []))];
  const states = `${count('free')} free, ${count('claimed')} claimed, ${count('quarantined')} quarantined`;
  return problems.length === 0 ? states : `${states}: ${problems.join('; ')}`;
}

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
