import type { Allotment } from './allot.ts';
import type { Amounts } from './amounts.ts';
import type { GpuView } from './layout/gpu-view.ts';

/** Each part of a score is less than its range, so a less important part cannot outweigh another. */
const NODES_RANGE = 16;
const ELSEWHERE_RANGE = 8;
const LEFT_RANGE = 2 ** 20;
const REMOTE_RANGE = 64;
/** A layout has at most 30 GPUs, so a VM has fewer switches. */
const SWITCHES_RANGE = 32;
/** What is left, counted in GPUs, is less than 128: a layout has at most 30 GPUs. */
const LEFT_STEPS = LEFT_RANGE / 128;
/** Less than one GPU in total, so it decides between equals. */
const TOGETHER_WEIGHT = 1 / 1024;

/** A way to fit a VM. `companionsAway` is the part of its companions on other nodes than its GPUs. */
type Way = { gpusByNode: readonly number[]; allotment: Allotment; companionsAway: number };

/**
 * Returns the score of a fit. Lower is better. The criteria, most important first:
 * 1. GPUs on fewer sockets, then on fewer NUMA nodes, then less of the cores and memory on other sockets than the
 *    GPUs, because such a VM is slower for its whole life;
 * 2. less left of everything, on the host and on the nodes used: GPUs, cores and memory are used up
 *    together, so that no GPU is left without cores, and unused hosts are kept for the largest type;
 *    among equals, the remaining GPUs of the host are concentrated on few nodes;
 * 3. fewer NUMA nodes altogether, then less of the cores, memory and companions on other nodes than the GPUs. This is
 *    less important than (2): otherwise VMs would leave the GPUs of every host to which another node is near;
 * 4. fewer PCIe switches.
 */
export function scoreFit(
  free: Amounts,
  view: GpuView,
  { gpusByNode, allotment, companionsAway }: Way,
): number {
  const { perGpu, reach } = free.layout;
  const sockets = new Set<number>();
  let nodes = 0;
  let gpuNodes = 0;
  let left = 0;
  let together = 0;
  let switches = 0;
  gpusByNode.forEach((gpus, node) => {
    const coresTaken = allotment.cores[node] ?? 0;
    const memoryTaken = allotment.memoryMib[node] ?? 0;
    const isUsed = gpus > 0 || coresTaken > 0 || memoryTaken > 0;
    const gpusLeft = (view.nodeFree[node] ?? 0) - gpus;
    const coresLeft = ((free.cores[node] ?? 0) - coresTaken) / perGpu.cores;
    const memoryLeft = ((free.memoryMib[node] ?? 0) - memoryTaken) / perGpu.memoryMib;
    // The nodes used count twice: as a part of the host, and for themselves.
    left += gpusLeft + (coresLeft + memoryLeft) * (isUsed ? 1 : 0.5);
    together += gpusLeft * gpusLeft;
    if (isUsed) nodes += 1;
    if (gpus === 0) return;
    gpuNodes += 1;
    sockets.add(reach.socketOf[node] ?? node);
    switches += view.pick(node, gpus)?.switches ?? 0;
  });
  left -= together * TOGETHER_WEIGHT;
  const leftSteps = Math.max(0, Math.min(Math.round(left * LEFT_STEPS), LEFT_RANGE - 1));
  const spread = sockets.size * NODES_RANGE + Math.min(gpuNodes, NODES_RANGE - 1);
  const elsewhere = Math.ceil(allotment.onOtherSockets * (ELSEWHERE_RANGE - 1));
  const away = (allotment.onOtherNodes + companionsAway) / 2;
  const remote =
    Math.min(nodes, NODES_RANGE - 1) * REMOTE_RANGE + Math.ceil(away * (REMOTE_RANGE - 1));
  return (
    ((spread * ELSEWHERE_RANGE + elsewhere) * LEFT_RANGE + leftSteps) *
      (NODES_RANGE * REMOTE_RANGE * SWITCHES_RANGE) +
    remote * SWITCHES_RANGE +
    switches
  );
}
