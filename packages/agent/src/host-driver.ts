import type { Duplex } from 'node:stream';
import type { ReceiptProperty } from '@gantry/model/receipt-property';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { IoTune } from './disk-limits.ts';
import type { DiskCopying, Snapshots } from './host-snapshots.ts';
import type {
  DeviceRef,
  DiskSpec,
  FirewallRule,
  Image,
  InterfaceSpec,
  NetworkSpec,
  VmSpec,
} from './spec.ts';

/**
 * The interface between the agent and a host. One implementation drives libvirt and the kernel, the
 * other is simulated; both pass the tests in `testing/host-driver-contract.ts`.
 *
 * Every change is idempotent. A change that has returned is visible to later reads. A change that
 * was interrupted left either nothing or something that repeating the change completes. A call that
 * can hang has its own time limit and throws a HostFailure.
 */
export type HostDriver = {
  /** Changes with every boot of the host, as /proc/sys/kernel/random/boot_id does. */
  readBootId(): Promise<string>;
  readInventory(): Promise<Inventory>;
  readonly hypervisor: Hypervisor;
  readonly volumes: Volumes;
  readonly snapshots: Snapshots;
  readonly devices: Devices;
  readonly network: HostNetwork;
  readonly seeds: Seeds;
};

/**
 * `running`: the domain has its memory and devices. A paused domain is also `running`; the
 * operator who paused it resumes it, and so does a reset. `starting`: the hypervisor is busy with its
 * start, and it may have memory and devices already. `shutoff`: it has ended or was not started yet.
 * `crashed`: the hypervisor knows that it died. `unknown`: it does not reply, and never has since the
 * agent started.
 */
export type DomainState = 'running' | 'starting' | 'shutoff' | 'crashed' | 'unknown';

/** Whether a domain in this state may have memory, disks and devices. */
export function isActive(state: DomainState): boolean {
  return state !== 'shutoff' && state !== 'crashed';
}

/** A domain as the hypervisor knows it. All of this is stored with the domain, not by the agent. */
export type Domain = {
  vmId: string;
  state: DomainState;
  /**
   * The revision of its definition; "0" if it has no definition or the definition has no revision.
   */
  revision: string;
  /**
   * The generation for which it was last started or reset; "0" before its first start, or if the
   * value is lost.
   */
  generation: string;
  /** Also those of a domain that the agent did not define, whose kind is not known. */
  devices: readonly Pick<DeviceRef, 'address'>[];
  /** In the order the guest sees them. */
  disks: readonly DomainDisk[];
  /**
   * Present if the domain does not reply. Everything else is then what was last known. A domain without
   * a reply is never absent or shut off for sure.
   */
  unresponsive?: { message: string; sinceMs: number };
};

/**
 * What a guest takes for its computer, and what an upgrade of the hypervisor would change under it.
 * Null where there is none: simulated guests.
 */
export type GuestHardware = {
  /** With its version: "pc-q35-7.2". */
  machineType: string;
  cpu: string;
  accel: 'kvm' | 'tcg';
  /** The files of the firmware's code and of the template of its variables. */
  loader: string;
  nvramTemplate: string;
};

export type Hypervisor = {
  /**
   * Returns every domain of the host, also domains that the agent did not define. Shows a domain that is
   * being changed, or does not reply, as it was last known.
   */
  list(): Promise<readonly Domain[]>;
  /**
   * Returns one domain; null if there is none. Like every change of a domain, throws `vm_unresponsive` if
   * the domain does not reply in time: then nothing is known about it. Every change asks the hypervisor
   * itself for the domain's state.
   */
  read(vmId: string): Promise<Domain | null>;
  /**
   * Replaces the domain's definition and its revision. A running guest is not affected: what cannot
   * change while it runs takes effect at its next start. The domain must already run for the VM's
   * generation or a later one, so a pending reset comes first.
   *
   * Returns the virtual hardware of the definition. `kept` is what an earlier call returned: a guest
   * boots with it again, also if the hypervisor has been upgraded or has lost the definition.
   */
  define(vm: VmSpec, kept?: GuestHardware | null): Promise<GuestHardware | null>;
  /**
   * Starts a defined domain unless it runs, and stores `generation` with it. A start that does not end
   * within a time that depends on the domain's size is ended, and throws `start_timed_out`.
   */
  start(vmId: string, generation: string): Promise<void>;
  /** Returns when the domain is not `starting`, also if its start has failed. Has the limit of a start. */
  awaitStart(vmId: string): Promise<void>;
  /** Resets a running domain without notice to the guest, and stores `generation` with it. */
  reset(vmId: string, generation: string): Promise<void>;
  /** Asks the guest to shut down, which runs its shutdown script, and does not wait for it. */
  askShutdown(vmId: string): Promise<void>;
  /** Powers the domain off immediately. */
  powerOff(vmId: string): Promise<void>;
  /**
   * Removes a domain that does not run, and everything stored for it. Also cleans up after a domain
   * that is already gone.
   */
  undefine(vmId: string): Promise<void>;
  /** For a running domain; `define` updates the definition afterwards. */
  attachDisk(vmId: string, disk: DiskSpec): Promise<void>;
  detachDisk(vmId: string, diskId: string): Promise<void>;
  /** Grows a disk of a running guest. The guest sees the new size. */
  growDisk(vmId: string, disk: DiskSpec): Promise<void>;
  /** Gives a disk of a running guest the limits of the spec, and no others. A shared directory has none. */
  limitDisk(vmId: string, disk: DiskSpec): Promise<void>;
  /**
   * Freezes the file systems of a running guest through its guest agent, and returns how many. Throws
   * `guest_agent_missing` if there is none that replies. A guest may be frozen although the call has failed.
   */
  freezeGuest(vmId: string): Promise<number>;
  /** Thaws the file systems of a running guest, and returns how many were frozen. */
  thawGuest(vmId: string): Promise<number>;
  /**
   * Copies a disk of a running guest to a file and returns when the copy is complete. Continues a copy to this file that
   * is in progress. Throws `copy_failed` if the copy ended otherwise, also with the guest.
   */
  copyDisk(vmId: string, copying: DiskCopying): Promise<void>;
  /**
   * Returns at most the last 64 KiB of the console output; empty without output or without a
   * domain.
   */
  readSerialLog(vmId: string): Promise<string>;
  /**
   * Opens the serial console of a running domain as a byte stream: it emits what the guest prints
   * from now on, writes are typed, and it ends with the domain. A guest has one serial line:
   * opening it again ends the earlier stream. Throws `vm_not_running` if the domain does not run.
   */
  openConsole(vmId: string): Promise<Duplex>;
  /**
   * Notifies about all changes from now on, whatever causes them. Returns a function that ends
   * this.
   */
  watch(watcher: DomainWatcher): () => void;
};

/** Notifications carry only which domain to read again. */
export type DomainWatcher = {
  /** The hypervisor replies again after a time without replies: anything may have changed. */
  reconnected(): void;
  domainChanged(vmId: string): void;
  /** A domain that was unresponsive replies again. */
  domainRecovered(vmId: string): void;
  serialLogGrew(vmId: string): void;
};

export type Volume = { id: string; sizeBytes: string };
/** `tune`: the limits that it has now. Absent: none. */
export type DomainDisk = Volume & { tune?: IoTune };

export type Volumes = {
  /** Returns the ids of all complete disks, in no order. */
  list(): Promise<string[]>;
  /** Returns a disk only if it is complete; a partial copy of an image is not returned. */
  read(diskId: string): Promise<Volume | null>;
  /** Creates the disk, from the image if there is one. An existing disk is left unchanged. */
  create(disk: DiskSpec, image: Image | null): Promise<void>;
  /** Grows a disk that no running domain uses. Never shrinks. */
  grow(disk: DiskSpec): Promise<void>;
  /** Removes the disk if it exists. Throws if it is in use. */
  remove(diskId: string): Promise<void>;
};

/** A device that is set aside for a VM. */
export type Device = DeviceRef & { vmId: string };

/** How a device was cleaned; `failure` says why it could not be cleaned. */
export type Cleaning = CleaningOutcome & { serial: string };
export type CleaningOutcome = {
  method: string;
  failure: { code: string; message: string } | null;
  /** What was verified and what was not. Absent: nothing is known. */
  properties?: readonly ReceiptProperty[];
};

export type Devices = {
  /** Returns the devices that are assigned to a VM. */
  list(): Promise<readonly Device[]>;
  /**
   * Assigns a device to one VM. Throws `device_in_use` while another VM has it. Companions are the
   * addresses of all devices of the VM: only they may share an IOMMU group with the device.
   */
  bind(device: Device, companions: readonly string[]): Promise<void>;
  /**
   * Resets or erases the device, verifies it and takes it from the VM; also for a device that no VM
   * has. A device that cannot be cleaned is a result with a failure; an exception is worth a retry.
   */
  release(device: Device): Promise<Cleaning>;
  /**
   * Returns why nothing can be done with a device now, because the kernel has not finished an earlier
   * request for it, or null. Absent: the devices are not real.
   */
  stuckReason?(address: string): Promise<string | null>;
};

/**
 * What the host filters: the rules, the interfaces they apply to, and the networks beyond the host.
 */
export type Firewall = {
  rules: readonly FirewallRule[];
  interfaces: readonly InterfaceSpec[];
  /** With the routes to their VMs on other hosts. Absent: the networks exist on this host only. */
  networks?: readonly NetworkSpec[];
};

export type HostNetwork = {
  ensureInterfaces(vmId: string, interfaces: readonly InterfaceSpec[]): Promise<void>;
  removeInterfaces(vmId: string): Promise<void>;
  /** Replaces all rules atomically, and reads them back before it returns. */
  applyFirewall(firewall: Firewall): Promise<void>;
  /**
   * Returns whether exactly these rules are in force in the kernel. With `quickly` it only checks,
   * at almost no cost, whether all rules were removed since they were applied.
   */
  isInForce(firewall: Firewall, options?: { quickly?: boolean }): Promise<boolean>;
  /**
   * From now on replies to DHCP and to requests at 169.254.169.254 from these VMs only, for the
   * interfaces that are in force. Ends with the agent.
   */
  serveGuests(vms: readonly VmSpec[]): Promise<void>;
};

/** cloud-init's data, which the guest reads when it boots. */
export type Seeds = {
  ensure(vm: VmSpec): Promise<void>;
  remove(vmId: string): Promise<void>;
};
