import si from 'systeminformation';
import { readLibvirtVersion } from './libvirt-version.ts';

/** What sysfs does not contain about a host. A simulated host has its own. */
export type HostFacts = {
  cpu: { model: string; architecture: string; sockets: number; cores: number; threads: number };
  memoryBytes: number;
  os: string;
  kernel: string;
  libvirt: string;
};

/** Reads the facts of this machine. */
export async function readHostFacts(options: {
  libvirtSocket: string;
  warn: (message: string) => void;
}): Promise<HostFacts> {
  const [cpu, memory, os] = await Promise.all([si.cpu(), si.mem(), si.osInfo()]);
  return {
    cpu: {
      model: `${cpu.manufacturer} ${cpu.brand}`.trim(),
      architecture: process.arch,
      sockets: cpu.processors,
      cores: cpu.physicalCores,
      threads: cpu.cores,
    },
    memoryBytes: memory.total,
    os: `${os.distro} ${os.release}`.trim(),
    kernel: os.kernel,
    libvirt: await readLibvirtVersion(options),
  };
}
