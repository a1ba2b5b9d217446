import { ChosenPlacement } from './chosen-placement.ts';
import type { Fit } from './fit.ts';
import type { CompanionRequest, Placement, PlacementRequest } from './host.ts';
import type { HostState } from './host-state.ts';
import type { GpuView } from './layout/gpu-view.ts';

export type FittedHost = { state: HostState; view: GpuView; fit: Fit };

/** Builds the placement for a fit. Changes nothing. */
export function placementOn(
  { state, view, fit: { gpusByNode, companionsByNode, shares } }: FittedHost,
  request: PlacementRequest,
): Placement {
  const masks = {
    gpus: maskOf(view, gpusByNode),
    companions: companionMask(state, companionsByNode, request.companions),
  };
  const { newDisksGib = 0 } = request;
  return new ChosenPlacement(state, masks, { shares, newDisksGib });
}

function maskOf(view: GpuView, gpusByNode: readonly number[]): number {
  let mask = 0;
  for (let node = 0; node < gpusByNode.length; node += 1)
    mask |= view.pick(node, gpusByNode[node] ?? 0)?.mask ?? 0;
  return mask;
}

/** Takes the smallest companions that are large enough: groups are ordered by size. */
function companionMask(
  { layout, freeCompanions }: HostState,
  byKind: Fit['companionsByNode'],
  companions: readonly CompanionRequest[],
): number {
  let chosen = 0;
  for (const { kind, sizeGb } of companions) {
    const missing = [...(byKind.get(kind) ?? [])];
    for (const group of layout.companionGroups) {
      if (group.kind !== kind || group.sizeGb < sizeGb) continue;
      for (let rest = freeCompanions & group.mask; rest && missing[group.node]; rest &= rest - 1) {
        chosen |= rest & -rest;
        missing[group.node] = (missing[group.node] ?? 0) - 1;
      }
    }
  }
  return chosen;
}
