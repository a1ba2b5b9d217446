import type { DeviceKind } from '@gantry/model/host-states';
import type { Finding } from '../../base/finding.ts';
import type { Sysfs } from '../../base/sysfs.ts';
import type { CleaningOutcome } from '../../host-driver.ts';
import type { PciHost } from '../pci/pci-control.ts';
import type { PciDevice } from '../pci/pci-device.ts';
import type { PciFunction } from '../pci/pci-function.ts';
import type { PciNames } from '../pci/pci-names.ts';

/**
 * Everything that differs by kind of device. Each kind is a folder with one implementation, and
 * `kinds.ts` lists them; the rest of the agent does not know which kinds exist.
 *
 * A kind must say how its devices are found and cleaned. Every other member is optional: without it
 * the device is an ordinary PCI device that is passed through by VFIO.
 */
export type KindDriver = {
  kind: DeviceKind;
  /** The first hex digits of the PCI class. A device of another class is refused. */
  pciClass: string;
  /** Reads all devices of the kind, with their health. */
  read(host: InventoryHost): Promise<InventoryDevice[]>;
  /** Runs once when the agent starts. */
  prepare?(host: PciHost): Promise<void>;
  /** Throws a HostFailure if the host uses the device. `isOwn`: the VM has the device already. */
  requireUnused?(host: AssigningHost, device: { address: string; isOwn: boolean }): Promise<void>;
  /** Placement gives a VM all devices of this kind that share an IOMMU group, or none. Absent: any of them. */
  groupsWhole?: true;
  /** The host's driver that keeps the device while a VM has it. Absent: VFIO gets the device. */
  hostDriver?: string;
  /** Returns null if the device cannot be queried now. */
  identify?(host: AssigningHost, address: string): Promise<DeviceIdentity | null>;
  /** Called after every change with the devices that VMs have, or that may hold their data. */
  markAssigned?(host: AssigningHost, devices: readonly NamedDevice[]): Promise<void>;
  /** Called after every reading with the devices that VMs have or may get, if they have changed. */
  hideFromBoot?(host: AssigningHost, devices: readonly NamedDevice[]): Promise<void>;
  /** Stops what the host has built on a VM's device. `assigned`: all devices that VMs have. */
  dismantle?(
    host: AssigningHost,
    device: { address: string; assigned: readonly string[] },
  ): Promise<void>;
  /** Returns the files below /dev through which a process can use the device, besides VFIO's. */
  filesOf?(host: AssigningHost, address: string): Promise<string[]>;
  /**
   * Makes sure that nothing of the VM is left on the device, verifies it, and returns the device to
   * the host's driver. A device that cannot be cleaned is a result with a failure.
   */
  clean(host: AssigningHost, device: ReturnedDevice): Promise<CleaningOutcome>;
  /** Whether a device that could not be cleaned may hold a tenant's data. */
  holdsData?: boolean;
  /** Returns what the guest gets instead of a PCI device, or null if it gets the PCI device. */
  guestParts?(host: BlockHost, address: string): Promise<readonly Blocks[] | null>;
  /** Returns the devices of the kind that this one can exchange data with directly, or null. */
  peersOf?(device: PciDevice): Peers | null;
  /** What the doctor checks, in the order in which findings should be fixed. */
  checks?: readonly KindCheck[];
};

/** A device as the inventory reports it; Device in the proto explains the fields. */
export type InventoryDevice = PciDevice & {
  kind: DeviceKind;
  serial: string;
  model: string;
  firmware: string;
  sizeBytes: number;
  uses: string[];
  warnings: string[];
  health: Record<string, number>;
  attributes: Record<string, string>;
};

/** The host whose inventory is read. */
export type InventoryHost = {
  sysfs: Sysfs;
  names: PciNames;
  /** Absent: the host is not this machine, and uses none of its devices. */
  procRoot?: string;
  /** Absent: the content of devices is not read. */
  devRoot?: string;
  /** Whether a VM has the device: its content is then a tenant's and is not read. */
  isAssigned: (address: string) => Promise<boolean>;
  /** Returns why the kernel keeps the agent from the device now, or null. Absent: it does not. */
  stuckReason?: (address: string) => Promise<string | null>;
  /** Called with what could not be read; the inventory continues without it. */
  warn: (message: string) => void;
};

export type BlockHost = { sysfs: Sysfs; devRoot: string };
/** The host whose devices are assigned to VMs. */
export type AssigningHost = PciHost & BlockHost & { procRoot: string };

/** What identifies a device. A tenant controls it completely, so it may come back changed. */
export type DeviceIdentity = {
  serial: string;
  firmware: string;
  sizeBytes: number;
  /** Further values that must be the same when the device returns, by name. Absent: not recorded. */
  setup?: Readonly<Record<string, string>>;
};

/** A device by its place and, if it can be read, by its serial number, which moves with it. */
export type NamedDevice = { address: string; serial: string };

/** A device that a VM had. */
export type ReturnedDevice = {
  address: string;
  /** All functions of the card, the main one first. Never empty. */
  functions: readonly PciFunction[];
  /** What was recorded before the device was assigned. Null: nothing. */
  before: {
    /** The driver of each function. */
    drivers: Record<string, string>;
    identity: DeviceIdentity | null;
  } | null;
};

/**
 * Devices with the same `group` reach each other, which their driver has to be told; those with the
 * same `switch` are below it.
 */
export type Peers = { group: string | null; switch: string | null };

/** A block device that stays with the host's driver; the guest gets its blocks. */
export type Blocks = { path: string; serial: string };

export type KindCheck = readonly [name: string, check: (host: CheckedHost) => Promise<Finding[]>];
export type CheckedHost = {
  sysfs: Sysfs;
  /** Of all kinds. */
  devices: readonly InventoryDevice[];
  /** Rejects if the program is not installed, fails or takes too long. */
  run: (program: string, args: readonly string[]) => Promise<string>;
};

/** Returns a device with what every PCI device has; the rest is empty unless it is given. */
export function inventoryDevice(
  kind: DeviceKind,
  pci: PciDevice,
  own: Partial<Omit<InventoryDevice, keyof PciDevice | 'kind'>> = {},
): InventoryDevice {
  return {
    kind,
    ...pci,
    ...{ serial: '', model: '', firmware: '', sizeBytes: 0, uses: [], warnings: [] },
    ...{ health: {}, attributes: {} },
    ...own,
  };
}
