import type { Sysfs } from '../base/sysfs.ts';
import type { NvmeDrive } from '../devices/kinds/nvme/read-drives.ts';
import type { Gpu } from '../devices/read-devices.ts';
import type { NumaNode } from '../inventory/numa-nodes.ts';
import type { AcceleratorSettings } from '../libvirt/choose-accelerator.ts';
import type { Platform } from '../libvirt/domain-xml/domain-definition.ts';
import type { KvmProbe } from '../libvirt/kvm-probe.ts';
import type { Finding } from './finding.ts';

/** What the doctor looks at: files below roots that a test can choose, and a few questions to ask. */
export type DoctorHost = {
  architecture: NodeJS.Architecture;
  /** The kernel's release: its modules lie below that name. */
  kernel: string;
  userId: number;
  /** Below `/`: dev, etc, lib, proc, run, usr. */
  files: Sysfs;
  filesRoot: string;
  sysfs: Sysfs;
  gpus: readonly Gpu[];
  nvmes: readonly NvmeDrive[];
  numaNodes: readonly NumaNode[];
  settings: DoctorSettings;
  /** Rejects where the program is not installed, fails or takes too long. */
  run: (program: string, args: readonly string[]) => Promise<string>;
  /** Boots a test VM, whatever earlier probes found. */
  probeKvm: (platform: Platform, limitMs: number) => Promise<KvmProbe>;
  /** Empty: no libvirt answers. */
  readLibvirtVersion: () => Promise<string>;
  /** Of the file system that holds a path, or would. */
  readSpace: (path: string) => Promise<{ freeBytes: number; totalBytes: number }>;
  /** Null: it can be reached. Otherwise why not. */
  connect: (address: string) => Promise<string | null>;
  /** Null: this host was never enrolled. */
  readCertificateEnd: () => Promise<Date | null>;
  nowMs: () => number;
};

export type DoctorSettings = {
  gpuVendorIds: readonly string[];
  standIns: boolean;
  accelerator: AcceleratorSettings;
  uplink: string | undefined;
  dataDirectory: string;
  stateDirectory: string;
  libvirtSocket: string;
  /** Empty: none are set. */
  schedulers: readonly string[];
};

/** Looks at one thing and changes nothing. No finding: there is nothing to say of it here. */
export type Check = (host: DoctorHost) => Promise<Finding[]>;
