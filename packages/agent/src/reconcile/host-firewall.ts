import { isDeepStrictEqual } from 'node:util';
import type { Firewall, HostNetwork } from '../host-driver.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type HostSpec, type InterfaceSpec, isSameSpec, type SpecId } from '../spec.ts';

const NONE: SpecId = { era: '0', number: '0', hash: '' };

type FirewallHost = {
  network: HostNetwork;
  ledger: Ledger;
  changed: () => void;
};

/**
 * Keeps the accepted spec's rules and the routes to VMs on other hosts in force. A caller that
 * creates an interface calls `ensure` first, so that a new VM is filtered before anything can reach
 * it. `inForce` only covers rules that were read back from the host. A spec with the same rules, interfaces and networks as
 * the last one, such as for another disk, needs no second look at the kernel: that starts half a dozen programs, for which
 * a tenant would wait, and `restore` notices what other programs change.
 */
export class HostFirewall {
  readonly #host: FirewallHost;
  #inForce: SpecId = NONE;
  /** Compared by identity: the VMs on other hosts change without a new spec. */
  #networks: HostSpec['networks'] | undefined;
  /**
   * Compared and passed by identity, so that the network does not render the same firewall again.
   */
  #applied: Firewall | null = null;
  /** Whether the rules of `applied` were found missing since they were applied. */
  #isMissing = false;
  #ensuring: Promise<void> | null = null;

  constructor(host: FirewallHost) {
    this.#host = host;
  }

  /** The spec whose rules are all in force. */
  get inForce(): SpecId {
    return this.#inForce;
  }

  /** Returns once the rules of the currently accepted spec, or of a later one, are in force. */
  async ensure(): Promise<void> {
    while (!this.#isSettled()) {
      this.#ensuring ??= this.#apply().finally(() => {
        this.#ensuring = null;
      });
      await this.#ensuring;
    }
  }

  /**
   * Other programs have rules on a host too, and some start by removing all rules. Applies missing
   * rules again and returns whether any were missing.
   */
  async restore({ quickly }: { quickly: boolean }): Promise<boolean> {
    const applied = this.#applied;
    if (applied === null) return false;
    const isSettled = this.#isSettled();
    if (isSettled) {
      if (await this.#host.network.isInForce(applied, { quickly })) return false;
      // A later spec has replaced these rules, or is about to.
      if (this.#applied !== applied || !this.#isSettled()) return false;
      this.#inForce = NONE;
      this.#isMissing = true;
    }
    await this.ensure();
    return isSettled;
  }

  #isSettled(): boolean {
    const { spec } = this.#host.ledger.content;
    return isSameSpec(this.#inForce, spec ?? NONE) && this.#networks === spec?.networks;
  }

  async #apply(): Promise<void> {
    const { network, ledger, changed } = this.#host;
    const { spec } = ledger.content;
    if (spec === null) return;
    // A spec that an earlier version of the agent stored has no networks.
    const { firewallRules: rules, networks = [] } = spec;
    const firewall: Firewall = { rules, interfaces: interfacesOf(ledger, spec), networks };
    if (this.#isMissing || !isDeepStrictEqual(this.#applied, firewall)) {
      // Only an earlier process of the agent can have applied them already.
      const mayBeInForce = this.#applied === null;
      if (!mayBeInForce || !(await network.isInForce(firewall)))
        await network.applyFirewall(firewall);
      this.#applied = firewall;
      this.#isMissing = false;
    }
    await network.serveGuests(spec.vms);
    this.#inForce = spec;
    this.#networks = spec.networks;
    changed();
  }
}

/**
 * Includes interfaces of VMs that are being taken down or that no spec names: their guests still
 * run.
 */
function interfacesOf(ledger: Ledger, spec: HostSpec): InterfaceSpec[] {
  const wanted = new Set(spec.vms.map((vm) => vm.id));
  const others = Object.entries(ledger.content.vms).filter(([vmId]) => !wanted.has(vmId));
  return [
    ...spec.vms.flatMap((vm) => vm.interfaces),
    ...others.flatMap(([, facts]) => facts.interfaces),
  ];
}
