import { idsIn } from './device-mask.ts';
import { gpuViews } from './gpu-view.ts';
import type { PlacementHost } from './host.ts';
import { stateOf } from './host-state.ts';
import { newLayoutStore } from './layout.ts';
import { maskOf } from './placement-on.ts';
import { scoreFit } from './score.ts';
import { spreads } from './spread.ts';

/**
 * The GPUs a VM of this many would best have on this host, looking at GPUs alone; null if whole
 * free groups of the model do not add up to the count.
 */
export function pickGpus(host: PlacementHost, model: string, count: number): string[] | null {
  const state = stateOf(newLayoutStore(), host);
  const view = gpuViews(state.layout, model).at(state.freeMask);
  let best: readonly number[] | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const gpusByNode of spreads(view.nodeFree, count)) {
    if (!gpusByNode.every((gpus, node) => view.pick(node, gpus))) continue;
    const score = scoreFit(view, gpusByNode);
    if (score < least) {
      best = gpusByNode;
      least = score;
    }
  }
  return best && idsIn(state.gpuIds, maskOf(view, best));
}
