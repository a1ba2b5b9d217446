import type { SysfsTree } from '@gantry/agent/base/sysfs-tree';

/** A PCI device of a server model, as lspci shows it. */
export type PciCard = {
  /** Six hex digits: base class, subclass, programming interface. */
  class: string;
  vendorId: string;
  deviceId: string;
  subsystemVendorId: string;
  subsystemDeviceId: string;
  /** The kernel driver that is bound to it on a host prepared for Gantry. */
  driver: string;
  /** In the kernel's notation: flr bus. */
  resetMethods: string;
  /** Gigatransfers per second of one lane in the kernel's notation: 16.0. */
  linkGts: string;
  linkWidth: number;
  /** What the kernel shows of the device besides its PCI attributes. Absent: nothing. */
  sysfs?: (place: CardPlace) => SysfsTree;
};

export type CardPlace = {
  address: string;
  /** The folder of the device, below the root of sysfs. */
  path: string;
  numaNode: number;
  /** The position among the cards of the server that are the same. */
  index: number;
};

export type GpuCard = PciCard & {
  /** The audio function in the same IOMMU group. Absent if the card has none. */
  audio?: PciCard;
};

/** A GPU server as sold, with two identical sockets. Each socket is one NUMA node. */
export type ServerModel = {
  name: string;
  cpuModel: string;
  coresPerNode: number;
  /** The installed memory. The kernel shows slightly less. */
  memoryGibPerNode: number;
  gpu: GpuCard;
  /** GPUs behind each PCIe switch of a node. */
  gpusBySwitch: readonly number[];
  /** Whether NVLink bridges join neighbours behind a switch, two by two. */
  nvlinkBridged: boolean;
  /**
   * The other devices for VMs on each node, such as drives. The host boots from other drives at its
   * SATA controller.
   */
  companionsPerNode: readonly PciCard[];
  /** One on each node. */
  nic: PciCard;
  rootPort: PciCard;
  switchPort: PciCard;
  firmware: string;
};

export const NODES = [0, 1] as const;
export const THREADS_PER_CORE = 2;
