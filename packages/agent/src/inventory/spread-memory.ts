import type { NumaNode } from './numa-nodes.ts';

/** Both count the same pages, so on a correct kernel they are almost equal. */
const TOLERANCE = 0.1;

/**
 * Returns the nodes with memory that adds up to the total. Under some hypervisors and container
 * runtimes the nodes' own numbers are far off (4.8 GB for the only node of a 135 GB host), while
 * the total is right. If they differ, the total is distributed over the nodes in proportion to
 * their memory, or over the nodes with CPUs if no node reports any.
 */
export function spreadMemory(
  nodes: NumaNode[],
  totalBytes: number,
  warn: (message: string) => void,
): NumaNode[] {
  const said = nodes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  if (nodes.length === 0 || Math.abs(said - totalBytes) <= totalBytes * TOLERANCE) return nodes;
  warn(`the NUMA nodes report ${said} bytes of memory, the host ${totalBytes}; using the host's`);
  const weightOf = ({ memoryBytes, cpus }: NumaNode) => (said > 0 ? memoryBytes : cpus ? 1 : 0);
  const weights = nodes.reduce((sum, node) => sum + weightOf(node), 0);
  if (weights === 0) return nodes;
  return nodes.map((node) => ({
    ...node,
    memoryBytes: Math.floor(totalBytes * (weightOf(node) / weights)),
  }));
}
