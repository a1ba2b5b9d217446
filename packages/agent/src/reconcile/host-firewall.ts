import type { Firewall, HostNetwork } from '../host-driver.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HostSpec, InterfaceSpec } from '../spec.ts';

type FirewallHost = {
  network: HostNetwork;
  ledger: Ledger;
  changed: () => void;
};

/**
 * Keeps the accepted spec's rules and the routes to VMs on other hosts in force. A caller that
 * creates an interface calls `ensure` first, so that a new VM is filtered before anything can reach
 * it. `number` only covers rules that were read back from the host.
 */
export class HostFirewall {
  readonly #host: FirewallHost;
  #inForce = '0';
  /**
   * Compared and passed by identity, so that the network does not render the same firewall again.
   */
  #applied: Firewall | null = null;
  #ensuring: Promise<void> | null = null;

  constructor(host: FirewallHost) {
    this.#host = host;
  }

  /** The number of the spec whose rules are all in force; "0" before the first. */
  get number(): string {
    return this.#inForce;
  }

  /** Returns once the rules of the currently accepted spec, or of a later one, are in force. */
  async ensure(): Promise<void> {
    while (this.#inForce !== this.#wantedNumber()) {
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
    const isSettled = this.#inForce === this.#wantedNumber();
    if (isSettled) {
      if (await this.#host.network.isInForce(applied, { quickly })) return false;
      // A later spec has replaced these rules, or is about to.
      if (this.#applied !== applied || this.#inForce !== this.#wantedNumber()) return false;
      this.#inForce = '0';
    }
    await this.ensure();
    return isSettled;
  }

  #wantedNumber(): string {
    return this.#host.ledger.content.spec?.number ?? '0';
  }

  async #apply(): Promise<void> {
    const { network, ledger, changed } = this.#host;
    const { spec } = ledger.content;
    if (spec === null) return;
    // A spec that an earlier version of the agent stored has no networks.
    const { firewallRules: rules, networks = [] } = spec;
    const firewall: Firewall = { rules, interfaces: interfacesOf(ledger, spec), networks };
    if (!(await network.isInForce(firewall))) await network.applyFirewall(firewall);
    await network.serveGuests(spec.vms);
    this.#applied = firewall;
    this.#inForce = spec.number;
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
