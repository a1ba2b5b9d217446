import type { Firewall, HostNetwork } from '../host-driver.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HostSpec, InterfaceSpec } from '../spec.ts';

type FirewallHost = {
  network: HostNetwork;
  ledger: Ledger;
  changed: () => void;
};

/**
 * Keeps the accepted spec's rules in force, and the ways to VMs on other hosts. Whoever brings an
 * interface up calls `ensure` first, so that a new VM is covered before anything can reach it.
 * `number` is told only of what the host was seen to have in force.
 */
export class HostFirewall {
  readonly #host: FirewallHost;
  #inForce = '0';
  /** The very object: whoever rendered it does not do so again. */
  #applied: Firewall | null = null;
  #ensuring: Promise<void> | null = null;

  constructor(host: FirewallHost) {
    this.#host = host;
  }

  /** Of the spec whose rules are all in force; "0" until the first are. */
  get number(): string {
    return this.#inForce;
  }

  /** Answers once the rules of the spec accepted now, or of a later one, are in force. */
  async ensure(): Promise<void> {
    while (this.#inForce !== this.#wantedNumber()) {
      this.#ensuring ??= this.#apply().finally(() => {
        this.#ensuring = null;
      });
      await this.#ensuring;
    }
  }

  /**
   * Others have rules on a host too, and some begin theirs by removing all there are. Applies again
   * what was taken away; answers whether anything was.
   */
  async restore({ quickly }: { quickly: boolean }): Promise<boolean> {
    const applied = this.#applied;
    if (applied === null) return false;
    const isSettled = this.#inForce === this.#wantedNumber();
    if (isSettled) {
      if (await this.#host.network.isInForce(applied, { quickly })) return false;
      // Replaced meanwhile by a later spec's, or about to be.
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
    // A spec that an earlier version of the agent kept has no networks.
    const { firewallRules: rules, networks = [] } = spec;
    const firewall: Firewall = { rules, nics: nicsOf(ledger, spec), networks };
    if (!(await network.isInForce(firewall))) await network.applyFirewall(firewall);
    await network.answerGuests(spec.vms);
    this.#applied = firewall;
    this.#inForce = spec.number;
    changed();
  }
}

/** Also those of VMs that are being taken down or that no spec names: their guests still run. */
function nicsOf(ledger: Ledger, spec: HostSpec): InterfaceSpec[] {
  const wanted = new Set(spec.vms.map((vm) => vm.id));
  const others = Object.entries(ledger.content.vms).filter(([vmId]) => !wanted.has(vmId));
  return [...spec.vms.flatMap((vm) => vm.nics), ...others.flatMap(([, facts]) => facts.nics)];
}
