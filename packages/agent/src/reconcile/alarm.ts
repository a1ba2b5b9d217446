import type { Clock } from '../base/clock.ts';

/** Sleeps that `ring` ends early, also one that begins just after it was called. */
export class Alarm {
  readonly #clock: Clock;
  readonly #sleepers = new Set<() => void>();
  #isRung = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = this.#sleepers.size === 0;
    for (const wake of [...this.#sleepers]) wake();
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#sleepers.delete(wake);
        this.#isRung = false;
        resolve();
      };
      const cancel = this.#clock.after(delayMs, wake);
      this.#sleepers.add(wake);
      if (this.#isRung) wake();
    });
  }
}
