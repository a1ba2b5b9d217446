import type { Blocks, HandedOver } from '../../devices/card-places.ts';
import type { DeviceRef } from '../../spec.ts';

/**
 * A domain with every choice made: rendering decides nothing, and the same definition is always the
 * same XML. `describe-domain.ts` chooses.
 */
export type DomainDefinition = {
  metadata: DomainMetadata;
  /** The VM's name, for people who list domains. Empty: none. */
  title: string;
  platform: Platform;
  /** The firmware's variables of this VM; made from the template at its first start. */
  nvramPath: string;
  /** Never empty. One without a host node: the guest sees no NUMA. */
  cells: readonly GuestCell[];
  /** Host CPUs of the emulator's own threads and of the I/O threads. Empty: any. */
  emulatorCpus: string;
  memory: MemoryBacking;
  /** Never zero. */
  iothreads: number;
  /** The first is the one to boot from. */
  disks: readonly DiskDefinition[];
  filesystems: readonly FilesystemDefinition[];
  /** What cloud-init reads. Null: no seed. */
  seedPath: string | null;
  /** In the order the guest sees them. */
  nics: readonly NicDefinition[];
  cards: readonly CardDefinition[];
  serialLogPath: string;
  /**
   * Room for the cards' memory above 4 GiB, on q35. Zero: what the firmware takes by itself. `virt`
   * has a window of 512 GiB that cannot be changed.
   */
  mmio64Mib: number;
};

/**
 * What is known of a domain beyond what libvirt knows, kept in the domain itself. Devices are here as
 * they were wanted: stand-ins are no host devices and would be nowhere else.
 */
export type DomainMetadata = {
  vmId: string;
  revision: string;
  /** "0" before its first start. */
  boot: string;
  devices: readonly DeviceRef[];
};

export const DOMAIN_NAMESPACE = 'https://gantry.dev/xmlns/domain/1';
export const DOMAIN_NAMESPACE_PREFIX = 'gantry';

/** What the name of every domain of ours begins with. */
const NAME_PREFIX = 'gantry-';
export const domainName = (vmId: string): string => `${NAME_PREFIX}${vmId}`;

/** What a host offers a domain, the same for all of them. */
export type Platform = {
  arch: 'x86_64' | 'aarch64';
  machine: 'q35' | 'virt';
  accel: 'kvm' | 'tcg';
  /** What the guest sees as its CPU; a model of QEMU's where it is none of the first two. */
  cpu: 'host-passthrough' | 'maximum' | (string & {});
  /** The interrupt controller of `virt`. */
  gic: 'host' | '2' | '3';
  emulator: string;
  firmware: { loader: string; nvramTemplate: string };
};

/** Cores and memory that are near each other. */
export type GuestCell = {
  /** The host's node its memory comes from. Null: anywhere. */
  hostNode: number | null;
  memoryMib: number;
  /** One for each vCPU, in the kernel's list form: the host CPUs it runs on. Empty text: any. */
  vcpuPins: readonly string[];
};

export type MemoryBacking = {
  /** Null: ordinary pages. */
  hugepageKib: number | null;
  /** Never swapped. Needs CAP_SYS_RESOURCE. */
  locked: boolean;
};

/** A VM has so many disks at most, shared directories included. Each has a place kept for it. */
export const DISK_SLOTS = 16;

export type DiskDefinition = {
  id: string;
  /** Zero to fifteen: the guest's vda to vdp, and its place on the PCI bus. */
  slot: number;
  source: { type: 'file'; path: string; format: 'raw' | 'qcow2' } | { type: 'block'; path: string };
  /** The guest sees the first 20 characters. */
  serial: string;
  /** The guest's sector. Zero: as the host likes. */
  blockSize: number;
  readOnly: boolean;
  /** Past the host's page cache, with the kernel's aio. Needs a file system with O_DIRECT. */
  directIo: boolean;
  /** From one to the domain's `iothreads`. */
  iothread: number;
};

/** A shared directory. The guest mounts it by its id. */
export type FilesystemDefinition = {
  id: string;
  slot: number;
  path: string;
  readOnly: boolean;
};

export type NicDefinition = {
  mac: string;
  /** Made before the start, with several queues, by whoever gives it its bridge and rules. */
  tap: string;
  /** Zero: nothing is said to the guest. */
  mtu: number;
  /** Whether the kernel moves the packets. */
  vhost: boolean;
  /** One or more pairs of queues. */
  queues: number;
};

/** A card or drive that is this VM's alone, in a slot of the guest. */
export type CardDefinition = {
  /** Index of the cell it is near. Null: not known. */
  cell: number | null;
} & (HandedOver | Blocks);
