import { median } from '../median.ts';
import type { Outcome } from './replay.ts';

export const SIZES = [1, 2, 4, 8];

/** The medians over the seeds. All figures are percentages. */
export type Summary = {
  allocated: number;
  /** Of the GPUs that were asked for. */
  rejectedGpus: number;
  /** Of the requests of each of `SIZES`. */
  rejected: number[];
  split: number;
};

export function summaryOf(outcomes: Outcome[]): Summary {
  const middle = (figure: (outcome: Outcome) => number) => median(outcomes.map(figure));
  return {
    allocated: middle(({ allocated, gpus }) => percent(allocated, gpus)),
    rejectedGpus: middle(({ rejected, asked }) => percent(gpusIn(rejected), gpusIn(asked))),
    rejected: SIZES.map((size) =>
      middle(({ rejected, asked }) => percent(rejected.get(size) ?? 0, asked.get(size) ?? 0)),
    ),
    split: middle(({ split, asked }) => percent(gpusIn(split), gpusIn(asked))),
  };
}

function gpusIn(counts: Map<number, number>): number {
  return [...counts].reduce((sum, [size, count]) => sum + size * count, 0);
}

function percent(part: number, all: number): number {
  return all === 0 ? 0 : (100 * part) / all;
}
