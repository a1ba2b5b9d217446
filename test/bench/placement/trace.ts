import { readFileSync } from 'node:fs';

/** A host: its GPUs by NUMA node. */
export type TraceHost = number[];

/** A fleet of small and large hosts, in about the proportions of the public traces. */
export const BUILT_IN_HOSTS: TraceHost[] = [
  ...repeat(500, [2]),
  ...repeat(50, [4]),
  ...repeat(600, [4, 4]),
];

/** How often each request size occurs decides the result, so a mix is a list of sizes. */
export const BUILT_IN_MIXES = [
  {
    name: 'built-in trace, mostly single GPUs',
    sizes: [...repeat(980, 1), ...repeat(6, 2), ...repeat(6, 4), ...repeat(8, 8)],
  },
  {
    name: 'built-in trace, half of the GPUs in large requests',
    sizes: [...repeat(880, 1), ...repeat(28, 2), ...repeat(26, 4), ...repeat(66, 8)],
  },
];

function repeat<Item>(times: number, item: Item): Item[] {
  return Array.from({ length: times }, () => item);
}

/**
 * Returns the hosts with GPUs. The list has no NUMA nodes: a host with 8 or more GPUs is assumed to
 * have two NUMA nodes, and a smaller host one.
 */
export function readHosts(file: string): TraceHost[] {
  return column(file, 'gpu')
    .map(Number)
    .filter((gpus) => gpus > 0)
    .map((gpus) => (gpus >= 8 ? [Math.ceil(gpus / 2), Math.floor(gpus / 2)] : [gpus]));
}

/** Returns the number of GPUs of each request that asks for any. A fraction of a GPU counts as one. */
export function readSizes(file: string): number[] {
  return column(file, 'num_gpu')
    .map(Number)
    .filter((gpus) => gpus > 0);
}

function column(file: string, name: string): string[] {
  const [header = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const at = header.trim().split(',').indexOf(name);
  if (at < 0) throw new Error(`${file} has no column ${name}`);
  return lines.map((line) => line.split(',')[at]?.trim() ?? '');
}
