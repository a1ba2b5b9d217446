import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@gantry/agent/base/clock';
import { HostFailure } from '@gantry/agent/base/failure';
import type { HostDriver } from '@gantry/agent/host-driver';
import type { VmSpec } from '@gantry/agent/spec';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import { type Behaviour, INSTANT } from './behaviour.ts';
import { DiskStore } from './disk-store.ts';
import { Faults } from './faults.ts';
import type { HostParts } from './host-parts.ts';
import { SimulatedDevices } from './simulated-devices.ts';
import { SimulatedHypervisor } from './simulated-hypervisor.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedSeeds } from './simulated-seeds.ts';
import { SimulatedSnapshots } from './simulated-snapshots.ts';
import { SimulatedVolumes } from './simulated-volumes.ts';

type SimulatedHostDriverOptions = {
  inventory: Inventory;
  clock?: Clock;
  behaviour?: Partial<Behaviour>;
  /** If several hosts get the same store, all of them have access to the same disks. */
  disks?: DiskStore;
};

/**
 * A host in memory. It outlives the agents that drive it, and refuses what real hosts refuse: a
 * device for two VMs, a smaller size for a disk, a block device open twice, a domain without its
 * parts.
 */
export class SimulatedHostDriver implements HostDriver {
  readonly hypervisor: SimulatedHypervisor;
  readonly volumes: SimulatedVolumes;
  readonly snapshots: SimulatedSnapshots;
  readonly devices: SimulatedDevices;
  readonly network: SimulatedNetwork;
  readonly seeds: SimulatedSeeds;
  readonly faults = new Faults();
  readonly disks: DiskStore;
  readonly #parts: HostParts;
  #inventory: Inventory;
  #bootId = randomUUID();

  constructor({ inventory, clock = systemClock, behaviour, disks }: SimulatedHostDriverOptions) {
    this.disks = disks ?? new DiskStore();
    this.#inventory = inventory;
    this.#parts = {
      clock,
      faults: this.faults,
      disks: this.disks,
      behaviour: behaviour ? { ...INSTANT, ...behaviour } : INSTANT,
    };
    this.volumes = new SimulatedVolumes(this.#parts);
    this.snapshots = new SimulatedSnapshots(this.#parts);
    this.devices = new SimulatedDevices(this.#parts, serialsOf(inventory));
    this.network = new SimulatedNetwork(this.#parts);
    this.seeds = new SimulatedSeeds(this.#parts);
    this.hypervisor = new SimulatedHypervisor(this.#parts, (vm) => this.#requireParts(vm));
  }

  async readBootId(): Promise<string> {
    return this.#bootId;
  }

  async readInventory(): Promise<Inventory> {
    return this.#inventory;
  }

  get agentVersion(): string {
    return this.#inventory.software?.agent ?? '';
  }

  /**
   * Replaces the inventory: hardware, kernel or wear have changed. Earlier copies stay the same.
   */
  changeInventory(change: (inventory: Inventory) => Inventory): void {
    this.#inventory = change(this.#inventory);
  }

  behave(behaviour: Partial<Behaviour>): void {
    this.#parts.behaviour = { ...this.#parts.behaviour, ...behaviour };
  }

  crashDomain(vmId: string): void {
    this.hypervisor.crash(vmId);
  }

  /**
   * Simulates a power cycle. Kill the agent first, because it would not survive it. Hypervisors
   * differ in whether they remember their domains afterwards.
   */
  reboot({ keepDomains = false }: { keepDomains?: boolean } = {}): void {
    this.hypervisor.losePower({ keepDomains });
    this.network.clear();
    this.#bootId = randomUUID();
  }

  #requireParts(vm: VmSpec): void {
    for (const { address } of vm.devices) {
      if (!this.devices.isBoundTo(address, vm.id)) {
        throw new HostFailure('device_missing', `${address} is not bound for VM ${vm.id}`);
      }
    }
    if (!this.seeds.has(vm.id)) throw new HostFailure('host_failed', `VM ${vm.id} has no seed`);
    if (this.network.interfacesOf(vm.id).length < vm.interfaces.length) {
      throw new HostFailure('host_failed', `VM ${vm.id} lacks an interface`);
    }
  }
}

function serialsOf({ devices = [] }: Inventory): Map<string, string> {
  return new Map(devices.map(({ address = '', serial = '' }) => [address, serial]));
}
