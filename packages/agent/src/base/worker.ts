/**
 * Runs a body once for each burst of nudges, never twice at the same time. A nudge carries no
 * information: the body reads the current state. A nudge during a run leads to one more run.
 */
export class Worker {
  readonly #body: () => Promise<void>;
  readonly #onIdle: () => void;
  #isNudged = false;
  #isStopped = false;
  #running: Promise<void> | null = null;

  /** `onIdle` is called after a run unless another one follows. */
  constructor(body: () => Promise<void>, onIdle: () => void = () => undefined) {
    this.#body = body;
    this.#onIdle = onIdle;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  nudge(): void {
    this.#isNudged = true;
    if (this.#running || this.#isStopped) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      if (this.#isNudged) this.nudge();
      else this.#onIdle();
    });
  }

  /** Resolves when the run in progress has ended. No other run follows. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isNudged && !this.#isStopped) {
      this.#isNudged = false;
      await this.#body();
    }
  }
}
