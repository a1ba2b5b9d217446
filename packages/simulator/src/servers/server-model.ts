/** What a server model says of a PCI device, as lspci would show it. */
export type PciCard = {
  /** Six hex digits: base class, subclass, programming interface. */
  class: string;
  vendorId: string;
  deviceId: string;
  subsystemVendorId: string;
  subsystemDeviceId: string;
  /** The kernel driver that has it on a host prepared for Gantry. */
  driver: string;
  /** In the kernel's words: flr bus. */
  resetMethods: string;
  /** Gigatransfers per second of one lane, as the kernel writes them: 16.0. */
  linkGts: string;
  linkWidth: number;
};

export type GpuCard = PciCard & {
  /** The function beside the graphics one, in the same IOMMU group. Absent: the card has none. */
  audio?: PciCard;
};

export type DriveCard = PciCard & { model: string; firmware: string; sectors: number };

export type NicCard = PciCard & { speedMbps: number };

/** A GPU server one can buy, with two sockets that are alike, each of them one NUMA node. */
export type ServerModel = {
  name: string;
  cpuModel: string;
  coresPerNode: number;
  /** As installed: the kernel shows a little less. */
  memoryGibPerNode: number;
  gpu: GpuCard;
  /** GPUs behind each PCIe switch of a node. */
  gpusBySwitch: readonly number[];
  /** Whether NVLink bridges join neighbours behind a switch, two by two. */
  nvlinkBridged: boolean;
  /** Drives to give away. The host boots from others, behind its SATA controller. */
  drivesPerNode: number;
  drive: DriveCard;
  /** One on each node. */
  nic: NicCard;
  rootPort: PciCard;
  switchPort: PciCard;
  firmware: string;
};

export const NODES = [0, 1] as const;
export const THREADS_PER_CORE = 2;
