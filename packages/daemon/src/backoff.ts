type BackoffLimits = {
  minMs: number;
  maxMs: number;
  /**
   * The share of each pause that is random, from 0 to 1. With 1 (full jitter) a pause may be as
   * short as 0 ms. Clients that many hosts run need jitter, so that they do not all retry at once.
   */
  jitter?: number;
  random?: () => number;
};

/** The pause after a failure; `failures` is 0 for the first. Exponential, up to a maximum. */
export function backoffMs(
  failures: number,
  { minMs, maxMs, jitter = 1, random = Math.random }: BackoffLimits,
): number {
  const longestMs = Math.min(maxMs, minMs * 2 ** failures);
  return Math.round(longestMs * (1 - jitter + jitter * random()));
}

/** Counts the failures, so that each pause is longer than the one before. */
export class Backoff {
  readonly #limits: BackoffLimits;
  #failures = 0;

  constructor(limits: BackoffLimits) {
    this.#limits = limits;
  }

  nextMs(): number {
    const pauseMs = backoffMs(this.#failures, this.#limits);
    this.#failures += 1;
    return pauseMs;
  }

  /** Call this after a success: the next pause is the shortest again. */
  reset(): void {
    this.#failures = 0;
  }
}
