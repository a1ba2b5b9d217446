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
};

export type GpuCard = PciCard & {
  /** The audio function in the same IOMMU group. Absent if the card has none. */
  audio?: PciCard;
};

export type DriveCard = PciCard & { model: string; firmware: string; sectors: number };

export type NicCard = PciCard & { speedMbps: number };

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
  /** Drives for VMs. The host boots from other drives at its SATA controller. */
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
