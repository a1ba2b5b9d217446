import type { Clock } from '../base/clock.ts';

/** A sleep that `ring` ends early, also if it was called just before the sleep began. */
export class Alarm {
  readonly #clock: Clock;
  #isRung = false;
  #wake: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(delayMs, () => this.#wake?.());
      this.#wake = () => {
        cancel();
        this.#wake = null;
        this.#isRung = false;
        resolve();
      };
      if (this.#isRung) this.#wake();
    });
  }
}
