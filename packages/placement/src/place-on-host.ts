import { fitRequest } from './fit.ts';
import type { Placement, PlacementRequest } from './host.ts';
import type { HostIndex } from './host-index.ts';
import { lackingStorage } from './host-state.ts';
import { gpuViews } from './layout/gpu-view.ts';
import { placementOn } from './placement-on.ts';

/** Returns the best placement on the given host, or null if it does not fit. Changes nothing. */
export function placeOnHost(
  index: HostIndex,
  hostId: string,
  request: PlacementRequest,
): Placement | null {
  const state = index.state(hostId);
  if (!state || state.host.location !== request.location) return null;
  if (!state.layout.modelMasks.has(request.gpuModel)) return null;
  if (lackingStorage(state, request)) return null;
  const view = gpuViews(state.layout, request.gpuModel).at(state.freeMask);
  const fit = fitRequest(state, view, request);
  return 'failed' in fit ? null : placementOn({ state, view, fit }, request);
}
