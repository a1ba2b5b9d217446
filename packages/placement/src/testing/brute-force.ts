import { type Fit, fitRequest } from '../fit.ts';
import { gpuViews } from '../gpu-view.ts';
import { isSchedulable, type PlacementHost, type PlacementRequest } from '../host.ts';
import { stateOf } from '../host-state.ts';
import { newLayoutStore } from '../layout.ts';

/** The best fit of one host, by itself; null if there is none. What the index must agree with. */
export function fitOf(host: PlacementHost, request: PlacementRequest): Fit | null {
  if (host.location !== request.location || !isSchedulable(host)) return null;
  const state = stateOf(newLayoutStore(), host);
  const view = gpuViews(state.layout, request.gpuModel).at(state.freeMask);
  const fit = fitRequest(state, view, request);
  return 'failed' in fit ? null : fit;
}

/** The least score any host offers, by asking each of them. */
export function leastScore(
  hosts: readonly PlacementHost[],
  request: PlacementRequest,
): number | null {
  const scores = hosts.flatMap((host) => fitOf(host, request)?.score ?? []);
  return scores.length === 0 ? null : Math.min(...scores);
}
