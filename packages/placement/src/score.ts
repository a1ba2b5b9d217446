import type { GpuView } from './gpu-view.ts';

/** Each part of a score is below this, so that no sum of lesser parts outweighs a greater one. */
const RANGE = 1024;

/**
 * How good a use of a host is, less being better; the first difference decides:
 * 1. fewer NUMA nodes, because a split VM is slow for as long as it lives;
 * 2. a host in use before a whole one, which is kept for the largest type;
 * 3. fewer GPUs left in the nodes used: the tightest gap, so that wide ones stay;
 * 4. fewer GPUs left on the host, so that the emptiest hosts can become whole again;
 * 5. what is left lies together;
 * 6. fewer switches, then fewer NVLink bridges broken.
 */
export function scoreFit(view: GpuView, gpusByNode: readonly number[]): number {
  let nodes = 0;
  let leftInNodes = 0;
  let leftOnHost = 0;
  let together = 0;
  let switches = 0;
  let brokenBridges = 0;
  gpusByNode.forEach((gpus, node) => {
    const left = (view.nodeFree[node] ?? 0) - gpus;
    leftOnHost += left;
    together += left * left;
    if (gpus === 0) return;
    nodes += 1;
    leftInNodes += left;
    const pick = view.pick(node, gpus);
    switches += pick?.switches ?? 0;
    brokenBridges += pick?.brokenBridges ?? 0;
  });
  const start = nodes * 2 + Number(view.whole);
  const left = leftInNodes * 32 + leftOnHost;
  const apart = RANGE - 1 - Math.min(together, RANGE - 1);
  const locality = switches * 32 + brokenBridges;
  return ((start * RANGE + left) * RANGE + apart) * RANGE + locality;
}
