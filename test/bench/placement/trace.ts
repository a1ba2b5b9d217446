import { readFileSync } from 'node:fs';

/** A host of a trace. Its cores and memory are divided equally between its NUMA nodes. */
export type TraceHost = {
  model: string;
  gpusByNode: number[];
  cpuMilli: number;
  memoryMib: number;
};

/** A kind of request, and how many requests of the trace are of this kind. */
export type TraceRequest = { gpus: number; cpuMilli: number; memoryMib: number; count: number };

export type Trace = {
  name: string;
  requests: TraceRequest[];
  /** Requests for a part of a GPU, and requests without GPUs. Both are left out. */
  fractions: number;
  withoutGpus: number;
};

const GIB = 1024;

/** A fleet of small and large hosts, in about the proportions of the public traces. */
export const BUILT_IN_HOSTS: TraceHost[] = [
  ...repeat(200, { model: 'small', gpusByNode: [2], cpuMilli: 104_000, memoryMib: 512 * GIB }),
  ...repeat(300, { model: 'large', gpusByNode: [4, 4], cpuMilli: 96_000, memoryMib: 384 * GIB }),
];

/** Single GPUs ask for 3 to 24 cores each, as in the public traces. Large requests ask for 8 to 15. */
export const BUILT_IN_TRACES: Trace[] = [
  builtIn('built-in trace, mostly single GPUs', { ones: 980, twos: 6, fours: 6, eights: 8 }),
  builtIn('built-in trace, most GPUs in large requests', {
    ones: 800,
    twos: 44,
    fours: 42,
    eights: 114,
  }),
];

type Mix = { ones: number; twos: number; fours: number; eights: number };

function builtIn(name: string, { ones, twos, fours, eights }: Mix): Trace {
  const kind = (gpus: number, count: number, cores: number, memoryGib: number) => ({
    ...{ gpus, count, cpuMilli: gpus * cores * 1_000, memoryMib: gpus * memoryGib * GIB },
  });
  const requests = [
    ...[kind(1, 0.18 * ones, 3, 8), kind(1, 0.12 * ones, 8, 24), kind(1, 0.5 * ones, 11, 48)],
    ...[kind(1, 0.16 * ones, 17, 60), kind(1, 0.04 * ones, 24, 91)],
    ...[kind(2, 0.7 * twos, 8, 32), kind(2, 0.3 * twos, 15, 78)],
    ...[kind(4, 0.7 * fours, 8, 32), kind(4, 0.3 * fours, 15, 78)],
    ...[kind(8, 0.5 * eights, 8, 32), kind(8, 0.5 * eights, 11, 40)],
  ];
  return { name, requests, fractions: 0, withoutGpus: 0 };
}

function repeat<Item>(times: number, item: Item): Item[] {
  return Array.from({ length: times }, () => item);
}

/**
 * Returns the hosts with GPUs. The list has no NUMA nodes: a host with 8 or more GPUs is assumed to
 * have two NUMA nodes, and a smaller host one.
 */
export function readHosts(file: string): TraceHost[] {
  return rows(file, ['gpu', 'cpu_milli', 'memory_mib', 'model']).flatMap(
    ([gpus = '', cpu, memory, model = '']) => {
      const count = Number(gpus);
      if (count === 0) return [];
      const gpusByNode = count >= 8 ? [Math.ceil(count / 2), Math.floor(count / 2)] : [count];
      return [{ model, gpusByNode, cpuMilli: Number(cpu), memoryMib: Number(memory) }];
    },
  );
}

/**
 * Returns the requests for whole GPUs, equal ones counted together. Gantry passes whole GPUs
 * through, so a request for a part of a GPU is one that it does not offer; counted as a whole GPU it
 * would be a demand that did not exist. A request without GPUs is none of a GPU cloud either.
 */
export function readTrace(file: string): Trace {
  const kinds = new Map<string, TraceRequest>();
  let [fractions, withoutGpus] = [0, 0];
  for (const row of rows(file, ['num_gpu', 'gpu_milli', 'cpu_milli', 'memory_mib'])) {
    const [gpus = 0, gpuMilli = 0, cpuMilli = 0, memoryMib = 0] = row.map(Number);
    if (gpus === 0) withoutGpus += 1;
    else if (gpuMilli < 1_000) fractions += 1;
    else {
      const key = `${gpus} ${cpuMilli} ${memoryMib}`;
      const kind = kinds.get(key) ?? { gpus, cpuMilli, memoryMib, count: 0 };
      kind.count += 1;
      kinds.set(key, kind);
    }
  }
  return { name: file, requests: [...kinds.values()], fractions, withoutGpus };
}

function rows(file: string, columns: string[]): string[][] {
  const [header = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const names = header.trim().split(',');
  const places = columns.map((name) => {
    const at = names.indexOf(name);
    if (at < 0) throw new Error(`${file} has no column ${name}`);
    return at;
  });
  return lines.map((line) => {
    const cells = line.split(',');
    return places.map((at) => cells[at]?.trim() ?? '');
  });
}
