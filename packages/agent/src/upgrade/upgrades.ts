import type { Log } from '@gantry/daemon/log';
import { AGENT_VERSION_PATTERN } from '@gantry/model/rollouts';
import type { AgentUpgradeReport } from '@gantry/proto/generated/gantry/v1/AgentUpgradeReport';
import type { Clock } from '../base/clock.ts';
import { Worker } from '../base/worker.ts';
import type { AgentPackages, UpgradeAttempt, UpgradeOrder } from './agent-packages.ts';

type UpgradesOptions = {
  packages: AgentPackages;
  clock: Clock;
  log: Log;
  /** What was read before the agent started. */
  last: UpgradeAttempt | null;
  /** The report of the last order has changed. */
  changed: () => void;
};

/** The host is asked this often for the outcome of an order that is carried out. */
const POLL_MS = 1_000;

/**
 * Follows the orders of the control plane to run another version of the agent. A spec that arrives shows that this
 * agent works, so it confirms the order that brought it. An order is begun if it names another version than the one
 * that runs, was not tried before, and no other order is being carried out.
 */
export class Upgrades {
  readonly #options: UpgradesOptions;
  readonly #worker = new Worker(() => this.#work());
  /** The version of this agent. The host may already have another one. */
  readonly #version: string;
  #attempt: UpgradeAttempt | null;
  #order: UpgradeOrder | null = null;
  #hasSpec = false;
  #cancelPoll: (() => void) | null = null;

  constructor(options: UpgradesOptions) {
    this.#options = options;
    this.#version = options.packages.version;
    this.#attempt = options.last;
  }

  get report(): AgentUpgradeReport | null {
    if (!this.#attempt) return null;
    const { id, version, failure } = this.#attempt;
    return { id, version, failure };
  }

  /** A spec has arrived with this order, or without one. */
  follow(order: UpgradeOrder | null): void {
    this.#order = order;
    this.#hasSpec = true;
    this.#worker.nudge();
  }

  stop(): void {
    this.#cancelPoll?.();
    void this.#worker.stop();
  }

  async #work(): Promise<void> {
    const { log, changed } = this.#options;
    this.#cancelPoll?.();
    try {
      const before = JSON.stringify(this.report);
      await this.#confirmOrBegin();
      if (JSON.stringify(this.report) !== before) changed();
    } catch (error) {
      log.error({ error }, 'agent upgrade could not be examined; will be retried');
    }
    if (this.#isCarriedOut() && !this.#worker.isStopped) {
      this.#cancelPoll = this.#options.clock.after(POLL_MS, () => this.#worker.nudge());
    }
  }

  async #confirmOrBegin(): Promise<void> {
    const { packages, log } = this.#options;
    await this.#load();
    const attempt = this.#attempt;
    const isNew = attempt?.version === this.#version;
    if (attempt && isNew && this.#hasSpec && !attempt.isConfirmed && !attempt.failure) {
      await packages.confirm(attempt);
      log.info({ order_id: attempt.id, version: attempt.version }, 'agent upgrade confirmed');
      await this.#load();
    }
    const order = this.#order;
    if (!order || order.version === this.#version || order.id === attempt?.id) return;
    if (this.#isCarriedOut()) return;
    if (!AGENT_VERSION_PATTERN.test(order.version)) {
      log.error({ order_id: order.id }, 'agent upgrade ignored: it names no version of a package');
      return;
    }
    log.info({ order_id: order.id, version: order.version }, 'agent upgrade begun');
    await packages.begin(order);
    await this.#load();
  }

  async #load(): Promise<void> {
    this.#attempt = await this.#options.packages.readAttempt();
  }

  #isCarriedOut(): boolean {
    const attempt = this.#attempt;
    if (!attempt || attempt.failure) return false;
    return attempt.version !== this.#version;
  }
}
