import { readFileSync } from 'node:fs';

/** A host of the node list: GPUs by NUMA node. */
export type TraceHost = number[];

/**
 * Hosts with GPUs. The list has no NUMA nodes: 8 GPUs are taken to hang on two of them, fewer on one.
 */
export function readHosts(file: string): TraceHost[] {
  return column(file, 'gpu')
    .map(Number)
    .filter((gpus) => gpus > 0)
    .map((gpus) => (gpus >= 8 ? [Math.ceil(gpus / 2), Math.floor(gpus / 2)] : [gpus]));
}

/** The GPUs of each request that asks for any; a fraction of one is in the list as one. */
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
