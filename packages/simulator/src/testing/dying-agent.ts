import type { HostDriver } from '@gantry/agent/host-driver';
import type { LedgerStore } from '@gantry/agent/ledger/ledger';
import type { AgentUnderTest } from './agent-under-test.ts';

/** Calls without effects. All other calls change the host. */
const ASKING = /^(list|has|read\w*|isInForce|watch|serveGuests)$/;

/**
 * Lets an agent die at its nth change of the host or its ledger: either before the change, or after
 * the change and before the call returns.
 */
export class DyingAgent {
  changes = 0;
  readonly #host: AgentUnderTest;
  readonly #dieAt: number;
  readonly #when: 'before' | 'after';

  constructor(host: AgentUnderTest, dieAt: number, when: 'before' | 'after') {
    this.#host = host;
    this.#dieAt = dieAt;
    this.#when = when;
  }

  get isDead(): boolean {
    return this.changes >= this.#dieAt;
  }

  get driver(): HostDriver {
    const { driver } = this.#host;
    return {
      readBootId: () => driver.readBootId(),
      readInventory: () => driver.readInventory(),
      hypervisor: this.#watched(driver.hypervisor),
      volumes: this.#watched(driver.volumes),
      snapshots: this.#watched(driver.snapshots),
      devices: this.#watched(driver.devices),
      network: this.#watched(driver.network),
      seeds: this.#watched(driver.seeds),
    };
  }

  get ledger(): LedgerStore {
    return this.#watched(this.#host.ledger);
  }

  #watched<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (_target, name) => {
        const value: unknown = Reflect.get(part, name, part);
        if (typeof value !== 'function') return value;
        const call = (...args: unknown[]): unknown => Reflect.apply(value, part, args);
        return ASKING.test(String(name)) ? call : (...args: unknown[]) => this.#change(call, args);
      },
    });
  }

  async #change(call: (...args: unknown[]) => unknown, args: unknown[]): Promise<unknown> {
    if (this.isDead) return never();
    this.changes += 1;
    if (!this.isDead) return call(...args);
    if (this.#when === 'before') this.#host.kill();
    else {
      await call(...args);
      this.#host.kill();
    }
    return never();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
