import type { GpuView } from './layout/gpu-view.ts';

/** Each part of a score is less than this, so a less important part cannot outweigh another. */
const RANGE = 1024;

/**
 * Returns the score of a fit. Lower is better. The criteria, most important first:
 * 1. fewer NUMA nodes, because a split VM is slower for its whole life;
 * 2. a host in use before an unused one, because unused hosts are kept for the largest type;
 * 3. fewer GPUs left on the nodes used: small gaps are filled, so that large gaps remain;
 * 4. fewer GPUs left on the host, so that nearly empty hosts can become empty again;
 * 5. the remaining GPUs of the host are concentrated on few nodes;
 * 6. fewer PCIe switches, then fewer broken NVLink bridges.
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
