import type { Amounts } from './amounts.ts';
import type { PlacementRequest } from './host.ts';
import type { GpuView } from './layout/gpu-view.ts';
import { shareAt } from './spread.ts';

/** Each part of a score is less than its range, so a less important part cannot outweigh another. */
const LOCALITY_RANGE = 1024;
const LEFT_RANGE = 2 ** 20;
/** What is left, counted in GPUs, is less than 128: a layout has at most 30 GPUs. */
const LEFT_STEPS = LEFT_RANGE / 128;
/** Less than one GPU in total, so it decides between equals. */
const TOGETHER_WEIGHT = 1 / 1024;

/**
 * Returns the score of a fit. Lower is better. The criteria, most important first:
 * 1. fewer NUMA nodes, because a split VM is slower for its whole life;
 * 2. less left of everything, on the host and on the nodes used: GPUs, cores and memory are used up
 *    together, so that no GPU is left without cores, and unused hosts are kept for the largest type;
 *    among equals, the remaining GPUs of the host are concentrated on few nodes;
 * 3. fewer PCIe switches, then fewer broken NVLink bridges.
 */
export function scoreFit(
  free: Amounts,
  view: GpuView,
  gpusByNode: readonly number[],
  request: Pick<PlacementRequest, 'cores' | 'memoryMib'>,
): number {
  const { perGpu } = free.layout;
  let nodes = 0;
  let left = 0;
  let together = 0;
  let switches = 0;
  let brokenBridges = 0;
  gpusByNode.forEach((gpus, node) => {
    const isUsed = gpus > 0;
    const gpusLeft = (view.nodeFree[node] ?? 0) - gpus;
    const coresTaken = isUsed ? shareAt(gpusByNode, node, request.cores) : 0;
    const memoryTaken = isUsed ? shareAt(gpusByNode, node, request.memoryMib) : 0;
    const coresLeft = ((free.cores[node] ?? 0) - coresTaken) / perGpu.cores;
    const memoryLeft = ((free.memoryMib[node] ?? 0) - memoryTaken) / perGpu.memoryMib;
    // The nodes used count twice: as a part of the host, and for themselves.
    left += gpusLeft + (coresLeft + memoryLeft) * (isUsed ? 1 : 0.5);
    together += gpusLeft * gpusLeft;
    if (!isUsed) return;
    nodes += 1;
    const pick = view.pick(node, gpus);
    switches += pick?.switches ?? 0;
    brokenBridges += pick?.brokenBridges ?? 0;
  });
  left -= together * TOGETHER_WEIGHT;
  const leftSteps = Math.max(0, Math.min(Math.round(left * LEFT_STEPS), LEFT_RANGE - 1));
  const locality = switches * 32 + brokenBridges;
  return (nodes * LEFT_RANGE + leftSteps) * LOCALITY_RANGE + locality;
}
