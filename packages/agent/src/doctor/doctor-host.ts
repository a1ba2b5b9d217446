import type { Finding } from '../base/finding.ts';
import type { Sysfs } from '../base/sysfs.ts';
import type { CapacitySettings } from '../capacity/capacity-settings.ts';
import type { CheckedHost, KindDriver } from '../devices/kinds/kind-driver.ts';
import type { NumaNode } from '../inventory/numa-nodes.ts';
import type { Platform } from '../libvirt/domain-xml/domain-definition.ts';
import type { AcceleratorSettings } from '../libvirt/platform/choose-accelerator.ts';
import type { KvmProbe } from '../libvirt/platform/kvm-probe.ts';
import type { ProbeVmResult } from '../libvirt/probe/probe-vm.ts';
import type { QuotaMount } from '../volumes/shared/quota-mount.ts';

/** What the doctor reads: files below roots that a test can choose, and a few functions. */
export type DoctorHost = CheckedHost & {
  architecture: NodeJS.Architecture;
  /** The kernel's release, which names the directory of its modules. */
  kernel: string;
  userId: number;
  /** Below `/`: dev, etc, lib, proc, run, usr. */
  files: Sysfs;
  filesRoot: string;
  kinds: readonly KindDriver[];
  numaNodes: readonly NumaNode[];
  settings: DoctorSettings;
  /** Boots a test VM, whatever earlier probes found. */
  probeKvm: (platform: Platform, limitMs: number) => Promise<KvmProbe>;
  /** Starts a VM from an image through libvirt, and removes it. */
  startProbeVm: (platform: Platform) => Promise<ProbeVmResult>;
  /** Empty: libvirt does not reply. */
  readLibvirtVersion: () => Promise<string>;
  /** The file system that contains a path, or would contain it. */
  readSpace: (path: string) => Promise<{ freeBytes: number; totalBytes: number }>;
  /** What the file system that contains a path, or would contain it, does about sizes. Null: it is not known. */
  readQuotaMount: (path: string) => Promise<QuotaMount | null>;
  /** The shared volumes in a directory that can use more than their size. */
  listUnlimited: (directory: string) => Promise<readonly string[]>;
  /** Returns null if the address can be reached, otherwise the reason. */
  connect: (address: string) => Promise<string | null>;
  /** The IPv4 addresses of all interfaces of the host. */
  readAddresses: () => readonly string[];
  /** The name servers that guests get. */
  readNameServers: () => Promise<readonly string[]>;
  /** Returns null if the name server resolves names for this host, otherwise the reason. */
  askNameServer: (server: string) => Promise<string | null>;
  /** Null: this host was never enrolled. */
  readCertificateEnd: () => Promise<Date | null>;
  nowMs: () => number;
};

export type DoctorSettings = {
  capacity: CapacitySettings;
  standIns: boolean;
  accelerator: AcceleratorSettings;
  uplink: string | undefined;
  /** Undefined: the host is not set up for storage clusters. */
  storageAddress: string | undefined;
  enforcesBandwidth: boolean;
  dataDirectory: string;
  sharedDirectory: string;
  stateDirectory: string;
  libvirtSocket: string;
  /** Empty: none are configured. */
  schedulers: readonly string[];
};

/** Checks one thing, and leaves nothing behind. An empty result means that the check does not apply. */
export type Check = (host: DoctorHost) => Promise<Finding[]>;
