import { amountsOf } from './amounts.ts';
import { idsIn } from './device-mask.ts';
import { type DriveViews, driveViews } from './drive-view.ts';
import type { FreeResources } from './fit.ts';
import type { DeviceState, PlacementHost } from './host.ts';
import { type Layout, type LayoutStore, layoutOf, orderDrives, orderGpus } from './layout.ts';

/** A host in the index: what is free on it, by position in its layout. Claims change it in place. */
export type HostState = FreeResources & {
  host: PlacementHost;
  layout: Layout;
  gpuIds: readonly string[];
  freeMask: number;
  driveIds: readonly string[];
  freeDrives: number;
  driveViews: DriveViews;
};

export function stateOf(store: LayoutStore, host: PlacementHost): HostState {
  const layout = layoutOf(store, host);
  const gpus = orderGpus(host);
  const amountOf = (amount: 'cores' | 'memoryMib' | 'networkGbps') =>
    layout.nodes.map((node) => host.numaNodes.find((one) => one.node === node)?.[amount] ?? 0);
  const drives = orderDrives(host);
  const freeDrives = freeMaskOf(drives);
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
    drives: driveViews(layout).at(freeDrives),
    driveViews: driveViews(layout),
    driveIds: drives.map(({ id }) => id),
    freeDrives,
  };
}

function freeMaskOf(devices: { state: DeviceState }[]): number {
  return devices.reduce((mask, { state }, i) => (state === 'free' ? mask | (1 << i) : mask), 0);
}

/** The host as it is now, with what was claimed and released since it was put in the index. */
export function hostOf(state: HostState): PlacementHost {
  const { host, layout } = state;
  const freeGpus = new Set(idsIn(state.gpuIds, state.freeMask));
  const freeDrives = new Set(idsIn(state.driveIds, state.freeDrives));
  const now = (was: DeviceState, isFree: boolean): DeviceState =>
    isFree ? 'free' : was === 'quarantined' ? was : 'claimed';
  return {
    ...host,
    numaNodes: layout.nodes.map((node, i) => ({
      node,
      cores: state.amounts.cores[i] ?? 0,
      memoryMib: state.amounts.memoryMib[i] ?? 0,
      networkGbps: state.amounts.networkGbps[i] ?? 0,
    })),
    gpus: host.gpus.map((gpu) => ({ ...gpu, state: now(gpu.state, freeGpus.has(gpu.id)) })),
    drives: host.drives.map((drive) => ({
      ...drive,
      state: now(drive.state, freeDrives.has(drive.id)),
    })),
  };
}
