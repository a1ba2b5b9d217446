import { seededRandom } from '@gantry/placement/testing/random';

/** Choices that a seed repeats. */
export class Random {
  readonly #draw: () => number;

  constructor(seed: number) {
    this.#draw = seededRandom(seed);
  }

  /** A whole number from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor(this.#draw() * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  weighted<T extends { weight: number }>(items: readonly T[]): T {
    let left = this.below(items.reduce((sum, { weight }) => sum + weight, 0));
    for (const item of items) {
      if (left < item.weight) return item;
      left -= item.weight;
    }
    throw new Error('BUG: there is nothing to choose from');
  }
}
