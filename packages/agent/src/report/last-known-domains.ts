import type { Clock } from '../base/clock.ts';
import { type Failure, failureOf } from '../base/failure.ts';
import type { Domain, Hypervisor } from '../host-driver.ts';

/** What a report can say of domains. */
export type DomainSnapshot = {
  /** As they were when last seen; null: not once since the agent began. */
  domains: readonly Domain[] | null;
  /** Why they could not be seen now; null: they were. */
  failure: Failure | null;
};

type LastKnownDomainsOptions = {
  hypervisor: Pick<Hypervisor, 'list'>;
  clock: Clock;
  /** How long it may fail before anything is said without it. */
  graceMs: number;
};

/**
 * The host's domains for those who must say something also while the hypervisor does not answer:
 * then it is what was true last, and beside it why nothing newer is known. For a moment it only
 * fails, which is worth another try. Whoever changes anything asks the hypervisor itself.
 */
export class LastKnownDomains {
  readonly #options: LastKnownDomainsOptions;
  #last: DomainSnapshot = { domains: null, failure: null };

  constructor(options: LastKnownDomainsOptions) {
    this.#options = options;
  }

  /** Whether what was last told of them was from earlier. */
  get isOutdated(): boolean {
    return this.#last.failure !== null;
  }

  async refresh(): Promise<DomainSnapshot> {
    const { hypervisor, clock, graceMs } = this.#options;
    try {
      this.#last = { domains: await hypervisor.list(), failure: null };
    } catch (error) {
      const nowMs = clock.nowMs();
      const failure = failureOf(error, this.#last.failure, nowMs);
      this.#last = { ...this.#last, failure };
      if (nowMs - failure.sinceMs < graceMs) throw error;
    }
    return this.#last;
  }
}
