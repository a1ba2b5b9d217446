import type { Seeds } from '@gantry/agent/host-driver';
import type { VmSpec } from '@gantry/agent/spec';
import type { HostParts } from './host-parts.ts';

/** Seeds are files, so they survive a reboot. Only the ids of their VMs are stored. */
export class SimulatedSeeds implements Seeds {
  readonly #host: HostParts;
  readonly #vmIds = new Set<string>();

  constructor(host: HostParts) {
    this.#host = host;
  }

  has(vmId: string): boolean {
    return this.#vmIds.has(vmId);
  }

  vmIds(): string[] {
    return [...this.#vmIds];
  }

  async ensure(vm: VmSpec): Promise<void> {
    await this.#host.faults.pass('ensure_seed');
    this.#vmIds.add(vm.id);
  }

  async remove(vmId: string): Promise<void> {
    await this.#host.faults.pass('remove_seed');
    this.#vmIds.delete(vmId);
  }
}
