import type { Clock } from '../base/clock.ts';
import { type Failure, failureOf } from '../base/failure.ts';
import type { Domain, Hypervisor } from '../host-driver.ts';

/** The domains as a report can show them. */
export type DomainSnapshot = {
  /**
   * The domains when they were last listed; null if they were never listed since the agent started.
   */
  domains: readonly Domain[] | null;
  /** Why the domains could not be listed now; null if they could. */
  failure: Failure | null;
};

type LastKnownDomainsOptions = {
  hypervisor: Pick<Hypervisor, 'list'>;
  clock: Clock;
  /** How long listing may fail before the last known domains are used. */
  graceMs: number;
  /** Called when the domains can be listed again after they could not be. */
  recovered?: () => void;
};

/**
 * Returns the host's domains for reports, also while the hypervisor does not reply: then they are
 * the last known ones, with the reason why nothing newer is known. During the first moments
 * `refresh` throws instead, which is worth a retry. Code that changes anything must ask the
 * hypervisor itself.
 */
export class LastKnownDomains {
  readonly #options: LastKnownDomainsOptions;
  #last: DomainSnapshot = { domains: null, failure: null };

  constructor(options: LastKnownDomainsOptions) {
    this.#options = options;
  }

  /** Whether the last result was from an earlier time. */
  get isOutdated(): boolean {
    return this.#last.failure !== null;
  }

  async refresh(): Promise<DomainSnapshot> {
    const { hypervisor, clock, graceMs, recovered } = this.#options;
    try {
      const domains = await hypervisor.list();
      const wasOutdated = this.isOutdated;
      this.#last = { domains, failure: null };
      if (wasOutdated) recovered?.();
    } catch (error) {
      const nowMs = clock.nowMs();
      const failure = failureOf(error, this.#last.failure, nowMs);
      this.#last = { ...this.#last, failure };
      if (nowMs - failure.sinceMs < graceMs) throw error;
    }
    return this.#last;
  }
}
