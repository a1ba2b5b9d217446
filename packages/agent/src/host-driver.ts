import type { Duplex } from 'node:stream';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
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
 * The boundary between the agent and a host: what the agent can do to it and ask of it. One
 * implementation drives libvirt and the kernel, one is simulated; both are held to the cases in
 * `testing/host-driver-contract.ts`.
 *
 * What always holds: every change may be repeated and then changes nothing; a change that answered
 * can be seen by asking; one that was cut off midway left either nothing or something that repeating
 * it completes. A call that can hang has a limit of its own and fails with a HostFailure.
 */
export type HostDriver = {
  /** Another text after every start of the host, as /proc/sys/kernel/random/boot_id. */
  readBootId(): Promise<string>;
  readInventory(): Promise<Inventory>;
  readonly hypervisor: Hypervisor;
  readonly volumes: Volumes;
  readonly devices: Devices;
  readonly network: HostNetwork;
  readonly seeds: Seeds;
};

/**
 * `running`: it has its memory and devices, also while somebody holds it paused, who then is the one
 * to let it go on; an order to reset does so too. `shutoff`: ended or not yet started. `crashed`: the
 * hypervisor knows that it died.
 */
export type DomainState = 'running' | 'shutoff' | 'crashed';

/** A domain as the hypervisor knows it. All of this is kept with the domain, not by the agent. */
export type Domain = {
  vmId: string;
  state: DomainState;
  /** Of the definition it has; "0" where it has none, or one that does not say. */
  revision: string;
  /** The order by which it was last started or reset; "0" before its first start, or if it is lost. */
  boot: string;
  devices: readonly DeviceRef[];
  /** In the order the guest sees them. */
  disks: readonly Volume[];
};

export type Hypervisor = {
  /** Every domain of the host, also those nobody here defined. */
  list(): Promise<readonly Domain[]>;
  /**
   * Makes this the domain's definition, and its revision the domain's. A running guest is not
   * touched: what cannot change under it holds from its next start. It is known to run by the VM's
   * order, or a later one: whoever has a reset to do does that first.
   */
  define(vm: VmSpec): Promise<void>;
  /** Starts a defined domain unless it runs, and keeps `boot` with it. */
  start(vmId: string, boot: string): Promise<void>;
  /** Resets a running domain without telling its guest, and keeps `boot` with it. */
  reset(vmId: string, boot: string): Promise<void>;
  /** Asks the guest to end, which runs its shutdown script first, and does not wait for it. */
  askShutdown(vmId: string): Promise<void>;
  /** Ends a domain now. */
  powerOff(vmId: string): Promise<void>;
  /** Forgets a domain that does not run, and all that was kept for it: also where it is gone. */
  undefine(vmId: string): Promise<void>;
  /** For running domains; the definition follows with `define`. */
  attachDisk(vmId: string, disk: DiskSpec): Promise<void>;
  detachDisk(vmId: string, diskId: string): Promise<void>;
  /** Grows a disk under a running guest, which sees the new size. */
  growDisk(vmId: string, disk: DiskSpec): Promise<void>;
  /** The last 64 KiB or less of what its console printed. Empty: nothing, or no domain. */
  readSerialLog(vmId: string): Promise<string>;
  /**
   * The serial console of a running domain, in bytes, from now on: what its guest prints can be read,
   * what is written is typed, and it ends when the domain does. A guest has one line: opening it again
   * ends the one that was open. Fails with `vm_not_running` where the domain does not run.
   */
  openConsole(vmId: string): Promise<Duplex>;
  /** Tells of changes from now on, whoever caused them. The answer ends it. */
  watch(watcher: DomainWatcher): () => void;
};

/** They carry nothing but whom to look at again. */
export type DomainWatcher = {
  /** The hypervisor could not be asked for a while, and now can: anything may have changed. */
  heardAgain(): void;
  domainChanged(vmId: string): void;
  serialLogGrew(vmId: string): void;
};

export type Volume = { id: string; sizeBytes: string };

export type Volumes = {
  /** A disk that is shown is whole: half a copy of an image never is. */
  read(diskId: string): Promise<Volume | null>;
  /** Makes it, from the image where one is given; one that exists is left as it is. */
  create(disk: DiskSpec, image: Image | null): Promise<void>;
  /** For disks no running domain has. Never shrinks. */
  grow(disk: DiskSpec): Promise<void>;
  /** One that does not exist is removed already; one in use is not removed. */
  remove(diskId: string): Promise<void>;
};

/** A device that is set aside for a VM. */
export type Device = DeviceRef & { vmId: string };

/** How a device was made clean; `failure` says why it could not be. */
export type Cleaning = CleaningOutcome & { serial: string };
export type CleaningOutcome = {
  method: string;
  failure: { code: string; message: string } | null;
};

export type Devices = {
  /** Those set aside for a VM now. */
  list(): Promise<readonly Device[]>;
  /**
   * Sets a device aside for one VM; fails with `device_in_use` while another has it. Companions are the
   * addresses of everything the VM gets: only they may share an IOMMU group with the device.
   */
  bind(device: Device, companions: readonly string[]): Promise<void>;
  /**
   * Resets or erases, verifies, and takes it from the VM. Also for a device no VM has. A device that
   * does not come clean is an answer with a failure; an exception is worth another try.
   */
  release(device: Device): Promise<Cleaning>;
};

/** What the host filters: the rules, and the interfaces they are for; and what lies beyond them. */
export type Firewall = {
  rules: readonly FirewallRule[];
  nics: readonly InterfaceSpec[];
  /** With the ways to their VMs on other hosts. Absent: the interfaces' networks end here. */
  networks?: readonly NetworkSpec[];
};

export type HostNetwork = {
  ensureInterfaces(vmId: string, nics: readonly InterfaceSpec[]): Promise<void>;
  removeInterfaces(vmId: string): Promise<void>;
  /** Replaces everything at once, and reads it back before it answers. */
  applyFirewall(firewall: Firewall): Promise<void>;
  /**
   * Whether exactly this is in force, as the kernel tells. `quickly`: whether it was taken away as a
   * whole since it was applied, at next to no cost.
   */
  isInForce(firewall: Firewall, options?: { quickly?: boolean }): Promise<boolean>;
  /**
   * From now on these VMs, and nobody else, are told who they are when they ask the host: by DHCP and
   * at 169.254.169.254, each of the interfaces that are in force. It ends with the agent.
   */
  answerGuests(vms: readonly VmSpec[]): Promise<void>;
};

/** What a guest reads at its boot: cloud-init's data. */
export type Seeds = {
  ensure(vm: VmSpec): Promise<void>;
  remove(vmId: string): Promise<void>;
};
