import { connect, type Sql } from '@gantry/db/connect';
import type { Scheduler } from '@gantry/scheduler/scheduler';
import type { Cloud } from '@gantry/testkit/cloud/start-cloud';
import { startStatementProxy, type Verdict } from '@gantry/testkit/faults/statement-proxy';

/**
 * Two schedulers, of which one dies at each crash point that none has died at before: before a
 * statement that writes, so that its transaction never happened, and after the commit of it, so that
 * another scheduler repeats what was done. A new one replaces each that died.
 */
/** A slow machine must not make the only host unreachable, because then a creation fails for lack of it. */
const LIMITS = { leaseTtlMs: 300, unreachableAfterMs: 2_000 };

type Mortal = { scheduler: Scheduler | null; sql: Sql; close(): void };

export class MortalSchedulers {
  /** Every statement that writes. */
  readonly steps = new Set<string>();
  /** The crash points at which a scheduler died, in their order. */
  readonly deaths = new Set<string>();
  readonly #cloud: Cloud;
  readonly #alive = new Set<Mortal>();
  readonly #work = new Set<Promise<void>>();
  #isStopped = false;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  async start(): Promise<void> {
    await Promise.all([this.#add(), this.#add()]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    while (this.#work.size > 0) await Promise.all(this.#work);
    await Promise.all([...this.#alive].map((mortal) => this.#end(mortal)));
  }

  async #add(): Promise<void> {
    if (this.#isStopped) return;
    const mortal: Mortal = { scheduler: null, sql: this.#cloud.sql, close: () => {} };
    const { url, close } = await startStatementProxy(this.#cloud.api.databaseUrl, {
      write: (step) => this.#meet(step),
      commit: (steps) => this.#meetCommit(steps),
      died: () => this.#replace(mortal),
    });
    mortal.sql = connect({ url, name: 'gantry-scheduler', maxConnections: 8 });
    mortal.close = close;
    this.#alive.add(mortal);
    mortal.scheduler = await this.#cloud
      .addScheduler({ sql: mortal.sql, ...LIMITS })
      // It died while it started, and its replacement is on the way.
      .catch(() => null);
    if (mortal.scheduler && !this.#alive.has(mortal)) await this.#end(mortal);
  }

  #meet(step: string): Verdict {
    this.steps.add(step);
    const point = `before ${step}`;
    if (this.#isStopped || this.deaths.has(point)) return 'pass';
    this.deaths.add(point);
    return 'die-before';
  }

  #meetCommit(steps: string[]): Verdict {
    const step = steps.find((one) => !this.deaths.has(`after ${one}`));
    if (step === undefined || this.#isStopped) return 'pass';
    this.deaths.add(`after ${step}`);
    return 'die-after';
  }

  #replace(mortal: Mortal): void {
    const work = this.#end(mortal)
      .then(() => this.#add())
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #end(mortal: Mortal): Promise<void> {
    this.#alive.delete(mortal);
    const { scheduler, sql, close } = mortal;
    const { schedulers } = this.#cloud;
    if (scheduler) schedulers.splice(schedulers.indexOf(scheduler), 1);
    close();
    await Promise.all([sql.end({ timeout: 0 }), scheduler?.stop().catch(() => {})]);
  }
}
