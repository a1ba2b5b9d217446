import { HostFailure } from '@gantry/agent/base/failure';
import type { Cleaning, Device, Devices } from '@gantry/agent/host-driver';
import type { Fault } from './faults.ts';
import { type HostParts, take } from './host-parts.ts';

/** The PCI devices of a host. Which are bound and which are dirty survives a reboot. */
export class SimulatedDevices implements Devices {
  readonly #host: HostParts;
  /** By address: the serial number, empty if the device has none. */
  readonly #serials: ReadonlyMap<string, string>;
  readonly #bound = new Map<string, Device>();
  #spoiled: Map<string, Fault> | null = null;
  /** How often each device was cleaned. For tests. */
  readonly cleanings = new Map<string, number>();

  constructor(host: HostParts, serials: ReadonlyMap<string, string>) {
    this.#host = host;
    this.#serials = serials;
  }

  /** Sets whether cleaning this device fails. */
  spoil(address: string, fault: Fault | null): void {
    this.#spoiled ??= new Map();
    if (fault) this.#spoiled.set(address, fault);
    else this.#spoiled.delete(address);
  }

  isBoundTo(address: string, vmId: string): boolean {
    return this.#bound.get(address)?.vmId === vmId;
  }

  /** What `list` returns without faults. */
  look(): Device[] {
    return [...this.#bound.values()];
  }

  async list(): Promise<readonly Device[]> {
    await this.#host.faults.pass('list_devices');
    return this.look();
  }

  async bind(device: Device): Promise<void> {
    await this.#host.faults.pass('bind_device');
    this.#require(device);
    this.#bound.set(device.address, device);
  }

  async release(device: Device): Promise<Cleaning> {
    await this.#host.faults.pass('release_device');
    this.#require(device);
    const { behaviour } = this.#host;
    // A device with a serial number stores data. It is erased; any other is reset.
    const serial = this.#serials.get(device.address) ?? '';
    const isErased = serial !== '';
    if (isErased) await this.#host.faults.pass('erase_drive');
    await take(this.#host, isErased ? behaviour.eraseMs : behaviour.resetMs);
    this.cleanings.set(device.address, (this.cleanings.get(device.address) ?? 0) + 1);
    this.#bound.delete(device.address);
    return {
      serial,
      method: isErased ? 'format_ses1' : 'flr',
      failure: this.#spoiled?.get(device.address) ?? null,
    };
  }

  #require({ address, vmId }: Device): void {
    if (!this.#serials.has(address)) {
      throw new HostFailure('device_missing', `there is no device ${address}`);
    }
    const holder = this.#bound.get(address);
    if (holder && holder.vmId !== vmId) {
      throw new HostFailure('device_in_use', `${address} is bound for VM ${holder.vmId}`);
    }
  }
}
