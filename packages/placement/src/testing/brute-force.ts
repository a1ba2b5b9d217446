import { type Fit, fitRequest } from '../fit.ts';
import { isSchedulable, type PlacementHost, type PlacementRequest } from '../host.ts';
import { stateOf } from '../host-state.ts';
import { gpuViews } from '../layout/gpu-view.ts';
import { newLayoutStore } from '../layout/layout.ts';

/** Returns the best fit of one host without an index, or null. The index must agree with it. */
export function fitOf(host: PlacementHost, request: PlacementRequest): Fit | null {
  if (host.location !== request.location || !isSchedulable(host)) return null;
  const state = stateOf(newLayoutStore(), host);
  const view = gpuViews(state.layout, request.gpuModel).at(state.freeMask);
  const fit = fitRequest(state, view, request);
  return 'failed' in fit ? null : fit;
}

/** Returns the lowest score of all hosts, computed by visiting each of them. */
export function leastScore(
  hosts: readonly PlacementHost[],
  request: PlacementRequest,
): number | null {
  const scores = hosts.flatMap((host) => fitOf(host, request)?.score ?? []);
  return scores.length === 0 ? null : Math.min(...scores);
}
