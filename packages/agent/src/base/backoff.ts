/** Pauses between attempts: exponential with full jitter, so that a fleet does not return at once. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #attempts = 0;

  constructor({ minMs, maxMs, random }: { minMs: number; maxMs: number; random: () => number }) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Anything from nothing to a limit that doubles each time. */
  nextMs(): number {
    const limitMs = Math.min(this.#maxMs, this.#minMs * 2 ** this.#attempts);
    this.#attempts += 1;
    return Math.round(this.#random() * limitMs);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
