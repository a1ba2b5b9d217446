import { join } from 'node:path';
import { HostFailure } from '../base/failure.ts';
import { createKeyedQueue } from '../base/queue.ts';
import type { Sysfs } from '../base/sysfs.ts';
import type { Cleaning, CleaningOutcome, Device, Devices } from '../host-driver.ts';
import { type DeviceBook, deviceBook, entryFor } from './device-book.ts';
import { groupConflict } from './group-conflict.ts';
import { bridgeOf, findAgain, resetCard } from './kinds/gpu/reset-card.ts';
import { readDriveUses } from './kinds/nvme/drive-uses.ts';
import { eraseDrive } from './kinds/nvme/erase-drive.ts';
import {
  changeOf,
  type DriveIdentity,
  NVME_DRIVER,
  readDrive,
  untilDrive,
} from './kinds/nvme/nvme-drive.ts';
import { markTenantDrives } from './kinds/nvme/tenant-drives.ts';
import { bindToHost, bindToVfio, ensureVfio } from './pci/bind-driver.ts';
import type { PciControl } from './pci/pci-control.ts';
import { isLost } from './pci/pci-device.ts';
import { type PciFunction, readCard, readFunctions } from './pci/pci-function.ts';
import { whoHasOpen } from './who-has-open.ts';

export type VfioOptions = {
  sysfs: Sysfs;
  control: PciControl;
  procRoot: string;
  devRoot: string;
  directory: string;
  /** The udev rules file that lists the drives of tenants. */
  tenantDrivesFile: string;
  /**
   * Whether drives stay on the host's driver, so that guests get block devices instead of PCI
   * devices.
   */
  drivesAsBlocks: boolean;
};

/** A device that is assigned to a VM, with what the agent needs to take it back. */
type Handed = Device & {
  /** The driver of each function before the device was assigned. */
  drivers: Record<string, string>;
  /** The PCI bridge directly above the device. Absent: none. */
  bridge?: string | undefined;
  /** Null for a GPU, and for a drive that could not be read. */
  drive: DriveIdentity | null;
  /** Cleaning failed: no VM has the device, and it may still hold a tenant's data. */
  isDirty?: boolean;
};

const CLASS_OF = { gpu: '03', drive: '0108' } as const;

/** Assigns the GPUs and NVMe drives of this host to VMs through VFIO; each has one VM at a time. */
export function vfioDevices(options: VfioOptions): Devices {
  const host = new VfioHost(options);
  // One queue per device, because erasing a drive takes long.
  const inTurn = createKeyedQueue();
  return {
    list: () => host.list(),
    bind: (device, companions) => inTurn(device.address, () => host.bind(device, companions)),
    release: (device) => inTurn(device.address, () => host.release(device)),
  };
}

class VfioHost {
  readonly #options: VfioOptions;
  readonly #sysfs: Sysfs;
  readonly #book: DeviceBook<Handed>;

  constructor(options: VfioOptions) {
    this.#options = options;
    this.#sysfs = options.sysfs;
    this.#book = deviceBook(join(options.directory, 'devices.json'));
  }

  async list(): Promise<Device[]> {
    const held = (await this.#book.list()).filter(({ isDirty }) => !isDirty);
    return held.map(({ vmId, kind, address }) => ({ vmId, kind, address }));
  }

  async bind(device: Device, companions: readonly string[]): Promise<void> {
    const known = await this.#entryFor(device);
    const functions = await this.#requireCard(device);
    if (device.kind === 'drive') await this.#requireUnused(device.address, known);
    const staysOnHost = device.kind === 'drive' && this.#options.drivesAsBlocks;
    if (!staysOnHost) {
      await this.#requireGroup(functions, companions);
      await ensureVfio(this.#options);
    }
    if (!known) await this.#note(device, functions);
    await this.#markDrives();
    for (const { address } of functions) {
      if (staysOnHost) await bindToHost(this.#options, { address, driver: NVME_DRIVER });
      else await bindToVfio(this.#options, address);
    }
  }

  async release(device: Device): Promise<Cleaning> {
    const known = await this.#entryFor(device);
    const outcome = await this.#clean(device, known ?? null);
    const serial = known?.drive?.serial ?? (await this.#serialOf(device.address));
    if (outcome.failure && device.kind === 'drive') {
      const entry = known ?? { ...device, drivers: {}, drive: null };
      await this.#book.put({ ...entry, isDirty: true });
    } else {
      await this.#book.remove(device.address);
    }
    await this.#markDrives();
    return { serial, ...outcome };
  }

  async #entryFor(device: Device): Promise<Handed | undefined> {
    const entry = await this.#book.find(device.address);
    return entry?.isDirty ? undefined : await entryFor(this.#book, device);
  }

  async #requireCard({ address, kind }: Device): Promise<PciFunction[]> {
    const functions = await readCard(this.#sysfs, address);
    const [main] = functions;
    if (!main) throw new HostFailure('device_missing', `there is no device ${address}`);
    if (await isLost(this.#sysfs, address)) {
      const message = `${address} fell off the bus: its config space reads as all ones`;
      throw new HostFailure('device_lost', message);
    }
    if (!main.deviceClass.startsWith(CLASS_OF[kind])) {
      const message = `${address} is no ${kind}: its class is ${main.deviceClass}`;
      throw new HostFailure('device_unsuitable', message);
    }
    return functions;
  }

  /**
   * The content of a drive that the VM already has is not read: its tenant may have written
   * anything.
   */
  async #requireUnused(address: string, known: Handed | undefined): Promise<void> {
    const { procRoot, devRoot } = this.#options;
    const look = { sysfs: this.#sysfs, procRoot, ...(known ? {} : { devRoot }) };
    const uses = await readDriveUses(look, address);
    if (uses.length === 0) return;
    const message = `the drive ${address} is in use by the host: ${uses.join(', ')}`;
    throw new HostFailure('device_in_use_by_host', message);
  }

  async #requireGroup(
    functions: readonly PciFunction[],
    companions: readonly string[],
  ): Promise<void> {
    const members = await readFunctions(this.#sysfs, [
      ...new Set(functions.flatMap((each) => each.members)),
    ]);
    const conflict = groupConflict({ functions, members, companions });
    if (conflict !== null) throw new HostFailure('iommu_group_shared', conflict);
  }

  /** Records the device in the book before anything is done to it. */
  async #note(device: Device, functions: readonly PciFunction[]): Promise<void> {
    const drivers = Object.fromEntries(functions.map(({ address, driver }) => [address, driver]));
    const drive = device.kind === 'drive' ? await readDrive(this.#options, device.address) : null;
    const identity = drive && {
      serial: drive.serial,
      firmware: drive.firmware,
      sizeBytes: drive.sizeBytes,
    };
    const bridge = await bridgeOf(this.#sysfs, device.address);
    await this.#book.put({ ...device, drivers, bridge, drive: identity });
  }

  async #markDrives(): Promise<void> {
    const drives = (await this.#book.list()).filter(({ kind }) => kind === 'drive');
    const { tenantDrivesFile: file, control } = this.#options;
    await markTenantDrives(
      { file, run: control.run },
      drives.map(({ address }) => address),
    );
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
    await this.#requireClosed(functions);
    return device.kind === 'gpu'
      ? await this.#cleanCard(functions, known)
      : await this.#cleanDrive(device, known);
  }

  /**
   * A device that a process has open must not be reset, erased or returned to the host's driver.
   */
  async #requireClosed(functions: readonly PciFunction[]): Promise<void> {
    const [main] = functions;
    const drive = main ? await readDrive(this.#options, main.address) : null;
    const files = [
      ...functions.flatMap(({ group }) => (group === null ? [] : [`/dev/vfio/${group}`])),
      ...(drive?.namespaces ?? []).map(({ path }) => path),
    ];
    for (const file of new Set(files)) {
      const holder = await whoHasOpen(this.#options.procRoot, file);
      if (holder === null) continue;
      throw new HostFailure('device_in_use', `${main?.address} is still open in ${holder}`);
    }
  }

  async #cleanCard(
    functions: readonly PciFunction[],
    known: Handed | null,
  ): Promise<CleaningOutcome> {
    const outcome = await resetCard(this.#options, functions);
    if (outcome.failure) return outcome;
    for (const { address, driver } of functions) {
      await bindToHost(this.#options, { address, driver: known?.drivers[address] ?? driver });
    }
    return outcome;
  }

  async #cleanDrive({ address }: Device, known: Handed | null): Promise<CleaningOutcome> {
    await bindToHost(this.#options, { address, driver: NVME_DRIVER });
    const drive = await untilDrive(this.#options, address);
    if (drive === null) return silent(address);
    const outcome = await eraseDrive(this.#options.control, drive);
    if (outcome.failure) return outcome;
    const now = await untilDrive(this.#options, address);
    if (now === null) return silent(address);
    const change = known?.drive ? changeOf(known.drive, now) : null;
    if (change === null) return outcome;
    const message = `the drive ${address} came back changed: ${change}`;
    return { method: outcome.method, failure: { code: 'drive_changed', message } };
  }

  async #serialOf(address: string): Promise<string> {
    return (await readDrive(this.#options, address))?.serial ?? '';
  }
}

function silent(address: string): CleaningOutcome {
  const message = `the drive ${address} shows the host no namespace`;
  return { method: 'none', failure: { code: 'drive_silent', message } };
}
