import type { Outcome } from './replay.ts';

/** The mean of the figures of several seeds. */
export class Mean {
  readonly outcomes: Outcome[];
  readonly allocated: number;
  readonly whole: number;

  constructor(outcomes: Outcome[]) {
    this.outcomes = outcomes;
    this.allocated = this.mean(({ allocatedPercent }) => allocatedPercent);
    this.whole = this.mean(({ wholeHosts }) => wholeHosts);
  }

  count(field: 'asked' | 'rejected' | 'split', size: number): number {
    return this.mean((outcome) => outcome[field].get(size) ?? 0);
  }

  rejectedPercent(size: number): number {
    return percent(this.count('rejected', size), this.count('asked', size));
  }

  /** Of the VMs placed. */
  splitPercent(sizes: number[]): number {
    const sum = (field: 'asked' | 'rejected' | 'split') =>
      sizes.reduce((total, size) => total + this.count(field, size), 0);
    return percent(sum('split'), sum('asked') - sum('rejected'));
  }

  private mean(value: (outcome: Outcome) => number): number {
    return this.outcomes.reduce((sum, outcome) => sum + value(outcome), 0) / this.outcomes.length;
  }
}

function percent(part: number, all: number): number {
  return all === 0 ? 0 : (100 * part) / all;
}
