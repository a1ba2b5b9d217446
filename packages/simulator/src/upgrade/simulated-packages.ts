import type { Clock } from '@gantry/agent/base/clock';
import type {
  AgentPackages,
  UpgradeAttempt,
  UpgradeOrder,
} from '@gantry/agent/upgrade/agent-packages';

/**
 * How an upgrade ends on a simulated host. `works`: the new agent runs. `install-fails`: the package manager refuses.
 * `stays-away`: the new agent does not run, and the earlier one returns after the time limit.
 */
export type UpgradeOutcome = 'works' | 'install-fails' | 'stays-away';

export type UpgradeBehaviour = {
  installMs: number;
  outcome: (version: string) => UpgradeOutcome;
};

type Host = {
  clock: Clock;
  behaviour: UpgradeBehaviour;
  /** The version of the agent that runs, or ran last. */
  version: () => string;
  /** The agent ends at once, like a process that is replaced. */
  killAgent: () => void;
  startAgent: (version: string) => void;
};

/** The package manager of a simulated host. It outlives the agents that it replaces. */
export class SimulatedPackages implements AgentPackages {
  readonly #host: Host;
  #attempt: UpgradeAttempt | null = null;
  #cancel: () => void = () => undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get version(): string {
    return this.#host.version();
  }

  /** The last order that was begun. */
  get attempt(): UpgradeAttempt | null {
    return this.#attempt;
  }

  async readAttempt(): Promise<UpgradeAttempt | null> {
    return this.#attempt;
  }

  async begin({ id, version, timeLimitSeconds }: UpgradeOrder): Promise<void> {
    const { behaviour, killAgent, startAgent } = this.#host;
    const previous = this.version;
    this.#attempt = { id, version, isConfirmed: false, failure: null };
    this.#after(behaviour.installMs, () => {
      const outcome = behaviour.outcome(version);
      if (outcome === 'install-fails')
        return this.#fail(`gantry-agent ${version} could not be installed, as ordered`);
      killAgent();
      if (outcome === 'works') return startAgent(version);
      this.#after(timeLimitSeconds * 1_000, () => {
        this.#fail(`version ${version} did not reach the control plane in time, as ordered`);
        startAgent(previous);
      });
    });
  }

  async confirm(attempt: UpgradeAttempt): Promise<void> {
    this.#attempt = { ...attempt, isConfirmed: true };
  }

  /** The host ends, and with it the installation. */
  stop(): void {
    this.#cancel();
  }

  #after(ms: number, run: () => void): void {
    this.#cancel = this.#host.clock.after(ms, run);
  }

  #fail(message: string): void {
    if (!this.#attempt) return;
    const failure = { code: 'upgrade_failed', message, sinceMs: this.#host.clock.nowMs() };
    this.#attempt = { ...this.#attempt, failure };
  }
}
