import type { NumaNode } from './numa-nodes.ts';

/** Both numbers count the same pages, so on a sound kernel they differ by next to nothing. */
const TOLERANCE = 0.1;

/**
 * The nodes with memory that adds up. Under some hypervisors and container runtimes the nodes' own
 * numbers are wrong by far (4.8 GB for the only node of a 135 GB host), while the total is right.
 * Where the two disagree the total wins: it is spread over the nodes that have memory, in proportion
 * to what they say, or over those with CPUs if none says anything.
 */
export function spreadMemory(
  nodes: NumaNode[],
  totalBytes: number,
  warn: (message: string) => void,
): NumaNode[] {
  const said = nodes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  if (nodes.length === 0 || Math.abs(said - totalBytes) <= totalBytes * TOLERANCE) return nodes;
  warn(
    `the NUMA nodes claim ${said} bytes of memory, the host ${totalBytes}: spreading the latter`,
  );
  const weightOf = ({ memoryBytes, cpus }: NumaNode) => (said > 0 ? memoryBytes : cpus ? 1 : 0);
  const weights = nodes.reduce((sum, node) => sum + weightOf(node), 0);
  if (weights === 0) return nodes;
  return nodes.map((node) => ({
    ...node,
    memoryBytes: Math.floor(totalBytes * (weightOf(node) / weights)),
  }));
}
