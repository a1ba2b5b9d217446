import type { HandedOver } from '../../devices/card-places.ts';
import type { Blocks } from '../../devices/kinds/kind-driver.ts';
import type { IoTune } from '../../disk-limits.ts';
import type { Volume } from '../../host-driver.ts';
import type { DeviceRef, VmSpec } from '../../spec.ts';
import type { DiskSource } from '../../volumes/disk-source.ts';

/**
 * A domain with every choice made: rendering decides nothing, and equal definitions give equal XML.
 * `describe-domain.ts` makes the choices.
 */
export type DomainDefinition = {
  metadata: DomainMetadata;
  /** The fields of the spec that are rendered unchanged. */
  vm: Pick<VmSpec, 'name'>;
  platform: Platform;
  /** Features that the guest's CPU does not show, although the host's has them. */
  hiddenCpuFeatures: readonly string[];
  /** The VM's firmware variables; created from the template at its first start. */
  nvramPath: string;
  /** Never empty. A cell without a host node: the guest sees no NUMA. */
  cells: readonly GuestCell[];
  /** The threads of each core that the guest sees. One if it sees none. */
  threadsPerCore: number;
  /** Host CPUs for the emulator's own threads and the I/O threads. Empty: any. */
  emulatorCpus: string;
  memory: MemoryBacking;
  /** Never zero. */
  iothreads: number;
  /** The guest boots from the first disk. */
  disks: readonly DiskDefinition[];
  filesystems: readonly FilesystemDefinition[];
  /** Path of cloud-init's data. Null: no seed. */
  seedPath: string | null;
  /** In the order in which the guest sees them. */
  interfaces: readonly InterfaceDefinition[];
  cards: readonly CardDefinition[];
  serialLogPath: string;
  /**
   * The window for the devices' memory above 4 GiB, on q35. Zero: the firmware's default. `virt`
   * has a fixed window of 512 GiB.
   */
  mmio64Mib: number;
};

/**
 * What libvirt does not know about a domain, stored in the domain itself. It lists the devices as
 * the spec does, because stand-ins are not host devices and would appear nowhere else.
 */
export type DomainMetadata = {
  vmId: string;
  revision: string;
  /** "0" before its first start. */
  generation: string;
  devices: readonly DeviceRef[];
  /**
   * The sizes of the volumes of storage clusters, as of when the domain opened or grew them. They are stored because
   * asking QEMU for them blocks the whole guest while the cluster does not reply.
   */
  volumes: readonly Volume[];
};

export const DOMAIN_NAMESPACE = 'https://gantry.dev/xmlns/domain/1';
export const DOMAIN_NAMESPACE_PREFIX = 'gantry';

/** The prefix of the names of Gantry's domains. */
const NAME_PREFIX = 'gantry-';
export const domainName = (vmId: string): string => `${NAME_PREFIX}${vmId}`;

/** The test VM of the doctor. It belongs to no tenant, and the agent does not report it. */
export const PROBE_VM_ID = 'd0c70000-9a1e-4f6b-8c35-70726f626501';

/** What a host offers to a domain; the same for all domains. */
export type Platform = {
  arch: 'x86_64' | 'aarch64';
  machine: 'q35' | 'virt';
  /** The machine type: the newest of its kind ("q35"), or the one that a VM keeps ("pc-q35-7.2"). */
  machineType: string;
  accel: 'kvm' | 'tcg';
  /** The guest's CPU; any value except the first two is a QEMU CPU model. */
  cpu: 'host-passthrough' | 'maximum' | (string & {});
  /** The CPU feature without which guests do not see the threads of a core. Absent: not needed. */
  threadsFeature?: 'topoext';
  /** The interrupt controller of `virt`. */
  gic: 'host' | '2' | '3';
  emulator: string;
  firmware: { loader: string; nvramTemplate: string };
};

/** Cores and memory that are close to each other. */
export type GuestCell = {
  /** The host's NUMA node for its memory. Null: any. */
  hostNode: number | null;
  memoryMib: number;
  /** For each vCPU the host CPUs it runs on, in the kernel's list format. Empty text: any. */
  vcpuPins: readonly string[];
};

export type MemoryBacking = {
  /** Null: ordinary pages. */
  hugepageKib: number | null;
  /** The memory is never swapped. Needs CAP_SYS_RESOURCE. */
  locked: boolean;
};

/** The maximum number of disks of a VM, shared directories included. Each has a fixed slot. */
export const DISK_SLOTS = 16;

export type DiskDefinition = {
  id: string;
  /** From 0 to 15: the guest's vda to vdp, and its place on the PCI bus. */
  slot: number;
  source: Exclude<DiskSource, { type: 'directory' }>;
  /** The guest sees the first 20 characters. */
  serial: string;
  /** The guest's sector size. Zero: the host's default. */
  blockSize: number;
  readOnly: boolean;
  /** Bypasses the host's page cache with the kernel's AIO. Needs a file system with O_DIRECT. */
  directIo: boolean;
  /** From 1 to the domain's `iothreads`. */
  iothread: number;
  /** Empty: the guest reads and writes as fast as it can. */
  tune: IoTune;
};

/** A shared directory. The guest mounts it by its id. */
export type FilesystemDefinition = {
  id: string;
  slot: number;
  path: string;
  readOnly: boolean;
};

export type InterfaceDefinition = {
  mac: string;
  /**
   * A tap with several queues. The host's network creates it before the start, with its bridge and
   * rules.
   */
  tap: string;
  /** Zero: the guest is not given an MTU. */
  mtu: number;
  /** Whether the kernel's vhost moves the packets. */
  vhost: boolean;
  /** At least one pair of queues. */
  queues: number;
};

/** A card or drive that belongs to this VM alone, in a slot of the guest. */
export type CardDefinition = {
  /** Index of the nearest cell. Null: unknown. */
  cell: number | null;
} & GuestPeers &
  (HandedOver | Blocks);

/** How a guest sees that cards can exchange data directly. */
export type GuestPeers = {
  /** NVIDIA's driver uses direct transfers between GPUs of one clique. Null: none. */
  clique: number | null;
  /** Cards with the same number are below one PCIe switch. Null: the card has a port of its own. */
  guestSwitch: number | null;
};
