import type { Clock } from '@gantry/agent/base/clock';

type Timer = { dueMs: number; run: () => void };

/** A clock that a test moves. Timers that are due at once run in the next event loop turn. */
export class ManualClock implements Clock {
  #nowMs = 1_700_000_000_000;
  #timers: Timer[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    if (delayMs <= 0) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    }
    const timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The number of pending timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Runs the timers that become due, in order, each at its own time. */
  advance(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const [next] = this.#timers
        .filter((timer) => timer.dueMs <= endMs)
        .sort((a, b) => a.dueMs - b.dueMs);
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = next.dueMs;
      next.run();
    }
    this.#nowMs = endMs;
  }
}
