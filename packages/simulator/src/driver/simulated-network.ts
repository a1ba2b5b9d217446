import { HostFailure } from '@gantry/agent/base/failure';
import type { Firewall, HostNetwork } from '@gantry/agent/host-driver';
import type { InterfaceSpec } from '@gantry/agent/spec';
import type { HostParts } from './host-parts.ts';

/** Interfaces and rules of a host. Both belong to the kernel, so a reboot removes them. */
export class SimulatedNetwork implements HostNetwork {
  readonly #host: HostParts;
  readonly #interfaces = new Map<string, readonly InterfaceSpec[]>();
  #firewall: Firewall | null = null;

  constructor(host: HostParts) {
    this.#host = host;
  }

  get firewall(): Firewall | null {
    return this.#firewall;
  }

  interfacesOf(vmId: string): readonly InterfaceSpec[] {
    return this.#interfaces.get(vmId) ?? [];
  }

  vmIds(): string[] {
    return [...this.#interfaces.keys()];
  }

  async ensureInterfaces(vmId: string, interfaces: readonly InterfaceSpec[]): Promise<void> {
    await this.#host.faults.pass('ensure_interfaces');
    const covered = new Set(this.#firewall?.interfaces.map((iface) => iface.id));
    const bare = interfaces.find((iface) => !covered.has(iface.id));
    if (bare) {
      throw new HostFailure('not_filtered', `interface ${bare.id} would come up without rules`);
    }
    this.#interfaces.set(vmId, interfaces);
  }

  async removeInterfaces(vmId: string): Promise<void> {
    await this.#host.faults.pass('remove_interfaces');
    this.#interfaces.delete(vmId);
  }

  async applyFirewall(firewall: Firewall): Promise<void> {
    await this.#host.faults.pass('apply_firewall');
    this.#firewall = firewall;
  }

  async isInForce(firewall: Firewall): Promise<boolean> {
    const { rules: known = null, ...others } = this.#firewall ?? {};
    const { rules, ...wanted } = firewall;
    return isSameList(known, rules) && JSON.stringify(others) === JSON.stringify(wanted);
  }

  /** Simulated guests run no programs, so they send no requests. */
  async serveGuests(): Promise<void> {}

  /** A reboot removes everything. */
  clear(): void {
    this.#interfaces.clear();
    this.#firewall = null;
  }
}

/** Most rules of a new spec are the objects of the one before, and a host may have hundreds. */
function isSameList<Item>(known: readonly Item[] | null, wanted: readonly Item[]): boolean {
  if (known?.length !== wanted.length) return false;
  return wanted.every(
    (item, i) => item === known[i] || JSON.stringify(item) === JSON.stringify(known[i]),
  );
}
