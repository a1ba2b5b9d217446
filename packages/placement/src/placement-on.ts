import { ChosenPlacement } from './chosen-placement.ts';
import type { Fit } from './fit.ts';
import type { GpuView } from './gpu-view.ts';
import type { Placement, PlacementRequest } from './host.ts';
import type { HostState } from './host-state.ts';
import { shareAt } from './spread.ts';

export type FittedHost = { state: HostState; view: GpuView; fit: Fit };

/** The placement that takes these GPUs by node; changes nothing. */
export function placementOn(
  { state, view, fit: { gpusByNode, shares } }: FittedHost,
  request: PlacementRequest,
): Placement {
  const masks = {
    gpus: maskOf(view, gpusByNode),
    drives: driveMask(state, gpusByNode, request),
  };
  return new ChosenPlacement(state, masks, shares);
}

export function maskOf(view: GpuView, gpusByNode: readonly number[]): number {
  let mask = 0;
  for (let node = 0; node < gpusByNode.length; node += 1)
    mask |= view.pick(node, gpusByNode[node] ?? 0)?.mask ?? 0;
  return mask;
}

/** The smallest drives that are large enough: groups come in the order of their size. */
function driveMask(
  state: HostState,
  gpusByNode: readonly number[],
  request: PlacementRequest,
): number {
  if (request.driveCount === 0) return 0;
  let chosen = 0;
  let node = -1;
  let missing = 0;
  for (const group of state.layout.driveGroups) {
    if (group.node !== node) {
      node = group.node;
      missing = gpusByNode[node] ? shareAt(gpusByNode, node, request.driveCount) : 0;
    }
    if (group.sizeGb < request.driveGb) continue;
    for (let rest = state.freeDrives & group.mask; rest && missing; rest &= rest - 1) {
      chosen |= rest & -rest;
      missing -= 1;
    }
  }
  return chosen;
}
