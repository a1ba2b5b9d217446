import { join } from 'node:path';
import { HostFailure } from '../base/failure.ts';
import { createKeyedQueue, createQueue, createSlots } from '../base/queue.ts';
import type { Sysfs } from '../base/sysfs.ts';
import type { Cleaning, CleaningOutcome, Device, Devices } from '../host-driver.ts';
import { type DeviceBook, deviceBook, entryFor } from './device-book.ts';
import { groupConflict } from './group-conflict.ts';
import type {
  AssigningHost,
  InventoryDevice,
  KindDriver,
  NamedDevice,
  ReturnedDevice,
} from './kinds/kind-driver.ts';
import { kindNamed } from './kinds/kinds.ts';
import { bindToHost, bindToVfio, ensureVfio } from './pci/bind-driver.ts';
import { isLost } from './pci/pci-device.ts';
import { type PciFunction, readCard, readFunctions } from './pci/pci-function.ts';
import { bridgeOf, findAgain } from './pci/reset-card.ts';
import { whoHasOpen } from './who-has-open.ts';

export type VfioOptions = AssigningHost & { kinds: readonly KindDriver[]; directory: string };

/** A device that is assigned to a VM, with what the agent needs to take it back. */
type Handed = Device &
  NonNullable<ReturnedDevice['before']> & {
    /** The PCI bridge directly above the device. Absent: none. */
    bridge?: string | undefined;
    /** Cleaning failed: no VM has the device, and it may still hold a tenant's data. */
    isDirty?: boolean;
  };

/**
 * Drives that are erased at the same time. Most erase themselves, but one that must be overwritten
 * takes memory bandwidth from running VMs.
 */
const MOST_ERASED = 8;

export type VfioDevices = Devices & {
  /** Keeps the devices that VMs have or may get from what the host does while it boots. */
  hideFromBoot(found: readonly InventoryDevice[]): Promise<void>;
};

/** Assigns the devices of this host to VMs, most of them through VFIO; each has one VM at a time. */
export function vfioDevices(options: VfioOptions): VfioDevices {
  const host = new VfioHost(options);
  // One queue per device, because erasing one takes long.
  const enqueue = createKeyedQueue();
  const erase = createSlots(MOST_ERASED);
  const release = (device: Device) =>
    host.holdsData(device) ? erase(() => host.release(device)) : host.release(device);
  return {
    list: () => host.list(),
    hideFromBoot: (found) => host.hideFromBoot(found),
    bind: (device, companions) => enqueue(device.address, () => host.bind(device, companions)),
    release: (device) => enqueue(device.address, () => release(device)),
  };
}

class VfioHost {
  readonly #options: VfioOptions;
  readonly #sysfs: Sysfs;
  readonly #book: DeviceBook<Handed>;
  readonly #marking = createQueue();
  readonly #dismantling = createQueue();

  constructor(options: VfioOptions) {
    this.#options = options;
    this.#sysfs = options.sysfs;
    this.#book = deviceBook(join(options.directory, 'devices.json'));
  }

  async list(): Promise<Device[]> {
    const held = (await this.#book.list()).filter(({ isDirty }) => !isDirty);
    return held.map(({ vmId, kind, address }) => ({ vmId, kind, address }));
  }

  holdsData(device: Device): boolean {
    return this.#kindOf(device).holdsData ?? false;
  }

  async bind(device: Device, companions: readonly string[]): Promise<void> {
    const known = await this.#entryFor(device);
    const functions = await this.#requireCard(device);
    const { requireUnused, hostDriver } = this.#kindOf(device);
    if (known) await this.#dismantle(device);
    await requireUnused?.(this.#options, { address: device.address, isOwn: known !== undefined });
    if (hostDriver === undefined) {
      await this.#requireGroup(functions, companions);
      await ensureVfio(this.#options);
    }
    if (!known) await this.#note(device, functions);
    await this.#markAssigned(device);
    for (const { address } of functions) {
      if (hostDriver === undefined) await bindToVfio(this.#options, address);
      else await bindToHost(this.#options, { address, driver: hostDriver });
    }
  }

  async release(device: Device): Promise<Cleaning> {
    const known = await this.#entryFor(device);
    const outcome = await this.#clean(device, known ?? null);
    const identity = known?.identity ?? (await this.#identify(device));
    if (outcome.failure && this.holdsData(device)) {
      const entry = known ?? { ...device, drivers: {}, identity: null };
      await this.#book.put({ ...entry, isDirty: true });
    } else {
      await this.#book.remove(device.address);
    }
    await this.#markAssigned(device);
    return { serial: identity?.serial ?? '', ...outcome };
  }

  /** A device that a VM has shows no serial number now, so the one in the book counts. */
  async hideFromBoot(found: readonly InventoryDevice[]): Promise<void> {
    const book = await this.#book.list();
    for (const { kind, hideFromBoot } of this.#options.kinds) {
      const assigned = book.filter((entry) => entry.kind === kind).map(nameOf);
      const isAssigned = (address: string) => assigned.some((each) => each.address === address);
      const free = found.filter(
        (device) => device.kind === kind && device.uses.length === 0 && !isAssigned(device.address),
      );
      const named = free.map(({ address, serial }) => ({ address, serial }));
      await hideFromBoot?.(this.#options, [...assigned, ...named]);
    }
  }

  #kindOf({ kind }: Device): KindDriver {
    return kindNamed(this.#options.kinds, kind);
  }

  async #entryFor(device: Device): Promise<Handed | undefined> {
    const entry = await this.#book.find(device.address);
    return entry?.isDirty ? undefined : await entryFor(this.#book, device);
  }

  async #requireCard(device: Device): Promise<PciFunction[]> {
    const { address, kind } = device;
    const functions = await readCard(this.#sysfs, address);
    const [main] = functions;
    if (!main) throw new HostFailure('device_missing', `there is no device ${address}`);
    if (await isLost(this.#sysfs, address)) {
      const message = `${address} fell off the bus: its config space reads as all ones`;
      throw new HostFailure('device_lost', message);
    }
    if (!main.deviceClass.startsWith(this.#kindOf(device).pciClass)) {
      const message = `${address} is no ${kind}: its class is ${main.deviceClass}`;
      throw new HostFailure('device_unsuitable', message);
    }
    return functions;
  }

  async #requireGroup(
    functions: readonly PciFunction[],
    companions: readonly string[],
  ): Promise<void> {
    const members = await readFunctions(this.#sysfs, [
      ...new Set(functions.flatMap((each) => each.members)),
    ]);
    const conflict = groupConflict({ functions, members, companions });
    if (conflict === null) return;
    const message =
      `${functions[0]?.address} cannot be handed over alone: ${conflict.address} is in IOMMU group ` +
      `${conflict.group} with it and in use by the host's driver ${conflict.driver}`;
    throw new HostFailure('iommu_group_shared', message);
  }

  /** Records the device in the book before anything is done to it. */
  async #note(device: Device, functions: readonly PciFunction[]): Promise<void> {
    const drivers = Object.fromEntries(functions.map(({ address, driver }) => [address, driver]));
    const identity = await this.#identify(device);
    const bridge = await bridgeOf(this.#sysfs, device.address);
    await this.#book.put({ ...device, drivers, bridge, identity });
  }

  async #identify(device: Device): Promise<Handed['identity']> {
    return (await this.#kindOf(device).identify?.(this.#options, device.address)) ?? null;
  }

  /** One after another, because each call replaces what the one before it marked. */
  async #markAssigned(device: Device): Promise<void> {
    await this.#marking(async () => {
      const entries = await this.#assignedLike(device);
      await this.#kindOf(device).markAssigned?.(this.#options, entries.map(nameOf));
    });
  }

  /** One after another, because the drives of a VM may be parts of the same RAID. */
  async #dismantle(device: Device): Promise<void> {
    await this.#dismantling(async () => {
      const assigned = (await this.#assignedLike(device)).map(({ address }) => address);
      const { address } = device;
      await this.#kindOf(device).dismantle?.(this.#options, { address, assigned });
    });
  }

  /** All devices of the same kind that VMs have, or that may hold their data. */
  async #assignedLike({ kind }: Device): Promise<Handed[]> {
    return (await this.#book.list()).filter((entry) => entry.kind === kind);
  }

  async #clean(device: Device, known: Handed | null): Promise<CleaningOutcome> {
    let functions = await readCard(this.#sysfs, device.address);
    if (functions.length === 0) {
      await findAgain(this.#options, known?.bridge);
      functions = await readCard(this.#sysfs, device.address);
    }
    if (functions.length === 0) {
      const message = `${device.address} is no longer there`;
      return { method: 'none', failure: { code: 'device_missing', message } };
    }
    if (await isLost(this.#sysfs, device.address)) {
      const message = `${device.address} fell off the bus: its config space reads as all ones`;
      return { method: 'none', failure: { code: 'device_lost', message } };
    }
    if (known) await this.#dismantle(device);
    await this.#requireClosed(device, functions);
    const { address } = device;
    return await this.#kindOf(device).clean(this.#options, { address, functions, before: known });
  }

  /**
   * A device that a process has open must not be reset, erased or returned to the host's driver.
   */
  async #requireClosed(device: Device, functions: readonly PciFunction[]): Promise<void> {
    const { address } = device;
    const files = [
      ...functions.flatMap(({ group }) => (group === null ? [] : [`/dev/vfio/${group}`])),
      ...((await this.#kindOf(device).filesOf?.(this.#options, address)) ?? []),
    ];
    for (const file of new Set(files)) {
      const holder = await whoHasOpen(this.#options.procRoot, file);
      if (holder === null) continue;
      throw new HostFailure('device_in_use', `${address} is still open in ${holder}`);
    }
  }
}

function nameOf({ address, identity }: Handed): NamedDevice {
  return { address, serial: identity?.serial ?? '' };
}
