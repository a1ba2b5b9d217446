import { amountsOf } from './amounts.ts';
import type { FreeResources } from './fit.ts';
import type { DeviceState, PlacementHost, PlacementRequest } from './host.ts';
import { type CompanionViews, companionViews } from './layout/companion-view.ts';
import { idsIn } from './layout/device-mask.ts';
import {
  type Layout,
  type LayoutStore,
  layoutOf,
  orderCompanions,
  orderGpus,
} from './layout/layout.ts';

/** A host of the index and its free resources, by position in its layout. Claims change it in place. */
export type HostState = FreeResources & {
  host: PlacementHost;
  layout: Layout;
  gpuIds: readonly string[];
  freeMask: number;
  companionIds: readonly string[];
  freeCompanions: number;
  companionViews: CompanionViews;
  /**
   * It is not one of the amounts by which hosts are grouped: hosts have disks of all sizes, and each would be a group of
   * its own.
   */
  freeStorageGib: number;
};

export function stateOf(store: LayoutStore, host: PlacementHost): HostState {
  const layout = layoutOf(store, host);
  const gpus = orderGpus(host);
  const amountOf = (amount: 'cores' | 'memoryMib' | 'networkGbps') =>
    layout.nodes.map((node) => host.numaNodes.find((one) => one.node === node)?.[amount] ?? 0);
  const companions = orderCompanions(host);
  const freeCompanions = freeMaskOf(companions);
  return {
    host,
    layout,
    gpuIds: gpus.map(({ id }) => id),
    freeMask: freeMaskOf(gpus),
    amounts: amountsOf(layout, {
      cores: amountOf('cores'),
      memoryMib: amountOf('memoryMib'),
      networkGbps: amountOf('networkGbps'),
    }),
    companions: companionViews(layout).at(freeCompanions),
    companionViews: companionViews(layout),
    companionIds: companions.map(({ id }) => id),
    freeCompanions,
    freeStorageGib: host.freeStorageGib ?? Number.POSITIVE_INFINITY,
  };
}

/** A VM whose disks exist already can start on a host whose disks are too large together. */
export function hasDiskSpace(
  { freeStorageGib }: Pick<HostState, 'freeStorageGib'>,
  { newDisksGib = 0 }: PlacementRequest,
): boolean {
  return newDisksGib === 0 || newDisksGib <= freeStorageGib;
}

/** A VM with volumes runs only where they can be opened, and where the host can be kept from them by a fence. */
export function reachesDisks(
  { host }: Pick<HostState, 'host'>,
  { hasVolumes = false }: PlacementRequest,
): boolean {
  return !hasVolumes || host.reachesVolumes === true;
}

/** Returns the first of the filters about disks that the host does not pass, or null. */
export function lackingStorage(state: HostState, request: PlacementRequest) {
  if (!hasDiskSpace(state, request)) return 'disk_space';
  return reachesDisks(state, request) ? null : 'storage_network';
}

function freeMaskOf(devices: { state: DeviceState }[]): number {
  return devices.reduce((mask, { state }, i) => (state === 'free' ? mask | (1 << i) : mask), 0);
}

/** Returns the host with all claims and releases since it was added to the index. */
export function hostOf(state: HostState): PlacementHost {
  const { host, layout } = state;
  const freeGpus = new Set(idsIn(state.gpuIds, state.freeMask));
  const freeCompanions = new Set(idsIn(state.companionIds, state.freeCompanions));
  const now = (was: DeviceState, isFree: boolean): DeviceState =>
    isFree ? 'free' : was === 'quarantined' ? was : 'claimed';
  return {
    ...host,
    freeStorageGib: state.freeStorageGib,
    numaNodes: host.numaNodes.map((node) => {
      const i = layout.nodes.indexOf(node.node);
      return {
        ...node,
        cores: state.amounts.cores[i] ?? 0,
        memoryMib: state.amounts.memoryMib[i] ?? 0,
        networkGbps: state.amounts.networkGbps[i] ?? 0,
      };
    }),
    gpus: host.gpus.map((gpu) => ({ ...gpu, state: now(gpu.state, freeGpus.has(gpu.id)) })),
    companions: host.companions.map((companion) => ({
      ...companion,
      state: now(companion.state, freeCompanions.has(companion.id)),
    })),
  };
}
