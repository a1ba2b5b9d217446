import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { PROBE_FILE } from '@gantry/agent/libvirt/kvm-probe';
import type { LibvirtHost } from './host.ts';
import { UPLINK } from './outside.ts';

/** What a host has of VMs. Everything is empty after the last VM is deleted. */
export type Leftovers = {
  domains: string[];
  /**
   * Below the data directory. Directories, the result of the KVM probe and copies of firmware, which are
   * never removed, are not counted.
   */
  files: string[];
  /** Bridges and taps: every interface except loopback and the uplink. */
  links: string[];
  /** QEMU and its helpers. */
  processes: string[];
  /** Tables of nftables. */
  tables: string[];
  /** Routing rules, except the three of the kernel. */
  rules: string[];
};

const PROGRAMS = /(^|\/)(qemu-system-\w+|virtiofsd|swtpm|dnsmasq)$/;
const KERNELS_RULES = new Set([0, 32_766, 32_767]);

export async function leftovers(host: LibvirtHost): Promise<Leftovers> {
  const { libvirtd, runIn } = host;
  const files = await readdir(host.dataDirectory, { recursive: true, withFileTypes: true });
  const links = JSON.parse(await runIn('ip', '-json', 'link')) as { ifname: string }[];
  const rules = JSON.parse(await runIn('ip', '-json', 'rule')) as {
    priority: number;
    table: string;
  }[];
  const processes = await libvirtd.processes();
  return {
    domains: lines(await libvirtd.run('virsh', 'list', '--all', '--name')),
    files: files
      .filter((entry) => !entry.isDirectory() && entry.name !== PROBE_FILE)
      .map((entry) => path.relative(host.dataDirectory, path.join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('firmware/'))
      .sort(),
    links: links.map(({ ifname }) => ifname).filter((name) => !['lo', UPLINK].includes(name)),
    processes: processes
      .filter(({ command }) => PROGRAMS.test(command[0] ?? ''))
      .map(({ pid, command }) => `${pid} ${command.join(' ')}`),
    tables: lines(await runIn('nft', 'list', 'tables')),
    rules: rules
      .filter(({ priority }) => !KERNELS_RULES.has(priority))
      .map(({ priority, table }) => `${priority} ${table}`),
  };
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
