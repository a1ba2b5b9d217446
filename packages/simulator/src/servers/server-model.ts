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

/**
 * A NUMA node of a server. A socket is one node, or several if the firmware divides it (NPS4 of AMD, sub-NUMA
 * clustering of Intel).
 */
export type ServerNode = {
  socket: number;
  cores: number;
  /** The installed memory. The kernel shows slightly less. */
  memoryGib: number;
  /** GPUs behind each PCIe switch of the node. */
  gpusBySwitch: readonly number[];
  /** GPUs that are directly below root ports. Absent: none. */
  gpusAtRoot?: number;
  /**
   * The other devices for VMs, such as drives. The host boots from other drives at its SATA
   * controller.
   */
  companions: readonly PciCard[];
  nics: readonly PciCard[];
};

/** A GPU server as sold. */
export type ServerModel = {
  name: string;
  cpuModel: string;
  /** By number. */
  nodes: readonly ServerNode[];
  gpu: GpuCard;
  /** Whether NVLink bridges join neighbours behind a switch, or at the roots of a node, two by two. */
  nvlinkBridged: boolean;
  /** The firmware names no NUMA node for any device. Absent: it names them. */
  hidesNodesOfDevices?: true;
  /** The ports of switches do not isolate devices, so all GPUs behind a switch share a group. */
  switchesLackAcs?: true;
  rootPort: PciCard;
  switchPort: PciCard;
  firmware: string;
};

export const THREADS_PER_CORE = 2;
