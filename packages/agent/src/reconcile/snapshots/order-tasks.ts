import type { Clock } from '../../base/clock.ts';
import { type Failure, failureOf, HostFailure } from '../../base/failure.ts';
import { NotWanted } from '../../host-snapshots.ts';

/**
 * Carries out orders of a spec that may take hours, each by a task of its own. A task is idempotent. It begins when its
 * order arrives, is repeated after a failure until it has succeeded or can never succeed, and is aborted when its order
 * is gone. Two tasks of one subject never run at the same time.
 */
export type Task = {
  /** What the task works on. */
  subject: string;
  /** Identifies the order. */
  id: string;
  run(signal: AbortSignal): Promise<void>;
};

export type Outcome =
  | { is: 'working'; failure: Failure | null }
  | { is: 'done' }
  | { is: 'given up'; failure: Failure };

type Options = {
  clock: Clock;
  /** Before the second attempt, the third, and so on; the last pause is repeated. */
  pausesMs: readonly number[];
  changed(): void;
  failed(task: Task, error: unknown): void;
};

type Run = {
  task: Task;
  outcome: Outcome;
  attempts: number;
  abort: AbortController | null;
  cancelRetry(): void;
};

/** Another attempt would fail in the same way: the tenant has to do something else. */
const FINAL_CODES = new Set([
  ...['disk_missing', 'disk_damaged', 'snapshot_missing', 'snapshots_unsupported'],
  ...['storage_full', 'freeze_failed', 'bad_disk', 'bad_snapshot', 'disk_shrink'],
]);

export class OrderTasks {
  readonly #options: Options;
  readonly #runs = new Map<string, Run>();
  /** The tasks in progress, also those whose order is gone. */
  readonly #busy = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns undefined if there is no such order. */
  outcome({ subject, id }: Pick<Task, 'subject' | 'id'>): Outcome | undefined {
    const run = this.#runs.get(subject);
    return run?.task.id === id ? run.outcome : undefined;
  }

  /** Replaces the orders, and tries again what has failed. */
  follow(tasks: readonly Task[]): void {
    if (this.#stopped) return;
    const wanted = new Map(tasks.map((task) => [task.subject, task]));
    for (const [subject, run] of this.#runs) {
      if (wanted.get(subject)?.id === run.task.id) continue;
      run.cancelRetry();
      run.abort?.abort(new NotWanted('the order is gone'));
      this.#runs.delete(subject);
    }
    for (const task of wanted.values()) {
      const run = this.#runs.get(task.subject) ?? this.#add(task);
      run.task = task;
      if (run.outcome.is === 'working') this.#start(run);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { abort, cancelRetry } of this.#runs.values()) {
      cancelRetry();
      abort?.abort(new Error('the agent stops'));
    }
    await Promise.all(this.#busy.values());
  }

  #add(task: Task): Run {
    const outcome: Outcome = { is: 'working', failure: null };
    const run: Run = { task, outcome, attempts: 0, abort: null, cancelRetry: () => {} };
    this.#runs.set(task.subject, run);
    return run;
  }

  #start(run: Run): void {
    const { subject } = run.task;
    if (this.#stopped || this.#busy.has(subject) || this.#runs.get(subject) !== run) return;
    run.cancelRetry();
    run.abort = new AbortController();
    const { signal } = run.abort;
    const work = this.#attempt(run, signal);
    this.#busy.set(subject, work);
    void work.finally(() => {
      this.#busy.delete(subject);
      run.abort = null;
      const next = this.#runs.get(subject);
      if (next && next !== run) this.#start(next);
    });
  }

  async #attempt(run: Run, signal: AbortSignal): Promise<void> {
    const { clock, pausesMs, changed, failed } = this.#options;
    try {
      await run.task.run(signal);
      if (!signal.aborted) run.outcome = { is: 'done' };
    } catch (error) {
      if (signal.aborted) return;
      failed(run.task, error);
      const before = run.outcome.is === 'working' ? run.outcome.failure : null;
      const failure = failureOf(error, before, clock.nowMs());
      const isFinal = error instanceof HostFailure && FINAL_CODES.has(error.code);
      run.outcome = { is: isFinal ? 'given up' : 'working', failure };
      if (!isFinal) {
        const pauseMs = pausesMs[Math.min(run.attempts, pausesMs.length - 1)] ?? 0;
        run.attempts += 1;
        run.cancelRetry = clock.after(pauseMs, () => this.#start(run));
      }
    }
    if (!signal.aborted) changed();
  }
}
