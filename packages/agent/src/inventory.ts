import { connect } from 'node-libvirt/connection';
import { renderLibVersion } from 'node-libvirt/lib-version';
import si from 'systeminformation';
import { type Nic, readNics } from './host/nics.ts';
import { type NumaNode, readNumaNodes } from './host/numa-nodes.ts';
import { type Gpu, type NvmeDrive, readGpus, readNvmeDrives } from './host/pci-devices.ts';
import { Sysfs } from './host/sysfs.ts';

/** What this host is made of, in the shape of the wire's Inventory; the meanings are in its proto. */
export type HostInventory = {
  cpu: { model: string; architecture: string; sockets: number; cores: number; threads: number };
  numaNodes: NumaNode[];
  memoryBytes: number;
  gpus: Gpu[];
  nvmes: NvmeDrive[];
  nics: Nic[];
  software: { os: string; kernel: string; firmware: string; libvirt: string };
};

export type InventoryOptions = {
  sysfsRoot: string;
  /** Vendors whose display controllers are GPUs to give away: four hex digits each. */
  gpuVendorIds: readonly string[];
  libvirtSocket: string;
  /** Told what could not be found out; the inventory goes on without it. */
  warn: (message: string) => void;
};

/** A healthy libvirt answers in milliseconds; one that hangs must not hold up the inventory. */
const LIBVIRT_LIMIT_MS = 5_000;

export async function readInventory(options: InventoryOptions): Promise<HostInventory> {
  const sysfs = new Sysfs(options.sysfsRoot);
  const [cpu, memory, os] = await Promise.all([si.cpu(), si.mem(), si.osInfo()]);
  return {
    cpu: {
      model: `${cpu.manufacturer} ${cpu.brand}`.trim(),
      architecture: process.arch,
      sockets: cpu.processors,
      cores: cpu.physicalCores,
      threads: cpu.cores,
    },
    numaNodes: await readNumaNodes(sysfs),
    memoryBytes: memory.total,
    gpus: await readGpus(sysfs, options.gpuVendorIds),
    nvmes: await readNvmeDrives(sysfs),
    nics: await readNics(sysfs),
    software: {
      os: `${os.distro} ${os.release}`.trim(),
      kernel: os.kernel,
      firmware: (await sysfs.text('class/dmi/id/bios_version')) ?? '',
      libvirt: await readLibvirtVersion(options),
    },
  };
}

/** Empty where no libvirt answers: a host without it is still a host to look at. */
async function readLibvirtVersion(options: InventoryOptions): Promise<string> {
  try {
    const signal = AbortSignal.timeout(LIBVIRT_LIMIT_MS);
    const connection = await connect({ socketPath: options.libvirtSocket, signal });
    try {
      return renderLibVersion(await connection.getLibVersion());
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.warn(`no libvirt version: ${reason}`);
    return '';
  }
}
