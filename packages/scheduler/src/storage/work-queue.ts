type Options = { mostPerCluster: number; retryMs: number; taken?: Set<string> };

/**
 * The tasks of the volume controller that run now, or that were tried a moment ago. A task has the name of what it
 * changes, so that two tasks never change one volume at the same time. Each cluster has its own limit: one that does not
 * reply does not delay the others.
 */
export class WorkQueue {
  readonly #running = new Map<string, { clusterId: string; done: Promise<void> }>();
  readonly #retryAtMs = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #most: number;
  readonly #retryMs: number;
  readonly #taken: Set<string>;

  /** `taken`: the names of the tasks that run, which several queues can share. */
  constructor({ mostPerCluster, retryMs, taken = new Set() }: Options) {
    this.#most = mostPerCluster;
    this.#retryMs = retryMs;
    this.#taken = taken;
  }

  /** The names of tasks that must not be started now, if they have this prefix. The prefix is removed. */
  busy(prefix: string): string[] {
    const now = performance.now();
    for (const [name, at] of this.#retryAtMs) if (at <= now) this.#retryAtMs.delete(name);
    return [...this.#running.keys(), ...this.#retryAtMs.keys()].flatMap((name) =>
      name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
    );
  }

  /** Whether a task waits for its next attempt. */
  get hasRetries(): boolean {
    return this.#retryAtMs.size > 0;
  }

  /** Whether no task runs or waits for its next attempt. */
  get isEmpty(): boolean {
    return this.#running.size === 0 && this.#retryAtMs.size === 0;
  }

  /**
   * Starts the task unless one of this name runs, also in a queue that shares the names, or the cluster has enough. Returns
   * whether it was started.
   */
  start(name: string, clusterId: string, task: () => Promise<'done' | 'retry'>): boolean {
    const ofCluster = [...this.#running.values()].filter((one) => one.clusterId === clusterId);
    if (this.#taken.has(name) || ofCluster.length >= this.#most) return false;
    this.#taken.add(name);
    const done = task()
      .then((end) => (end === 'done' ? this.#succeed(name) : this.#postpone(name)))
      .finally(() => {
        this.#running.delete(name);
        this.#taken.delete(name);
      });
    this.#running.set(name, { clusterId, done });
    return true;
  }

  /** Tries all tasks again without a pause. */
  forget(): void {
    this.#retryAtMs.clear();
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  #succeed(name: string): void {
    this.#failures.delete(name);
  }

  #postpone(name: string): void {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    const pauseMs = this.#retryMs * Math.min(2 ** (failures - 1), 32);
    this.#retryAtMs.set(name, performance.now() + pauseMs);
  }
}
