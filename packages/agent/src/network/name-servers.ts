import { isIPv4 } from 'node:net';
import type { Sysfs } from '../base/sysfs.ts';
import type { NameServers } from '../seed/network-config.ts';

/**
 * systemd-resolved lists its upstream servers in the first file; /etc/resolv.conf then names only
 * its stub, which listens on the host's loopback interface. Below `/`.
 */
const RESOLVER_FILES = ['run/systemd/resolve/resolv.conf', 'etc/resolv.conf'];

type Choice = {
  /** The operator's list. It is used as it is. Empty: the host's own servers. */
  configured: readonly string[];
  /** Without one, guests reach no server, and each lookup would wait for its time limit. */
  uplink: string | undefined;
  files: Sysfs;
};

export function chooseNameServers({ configured, uplink, files }: Choice): NameServers {
  if (configured.length > 0) return async () => configured;
  if (uplink === undefined) return async () => [];
  return () => readHostNameServers(files);
}

/** Returns the servers of the first file that names one that a guest can reach. */
async function readHostNameServers(files: Sysfs): Promise<string[]> {
  for (const file of RESOLVER_FILES) {
    const lines = ((await files.text(file)) ?? '').split('\n');
    const addresses = lines.flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
    const reachable = [...new Set(addresses.filter(isReachableFromGuest))];
    if (reachable.length > 0) return reachable;
  }
  return [];
}

/** Guests have IPv4 only. Loopback and link-local addresses are different machines in a guest. */
function isReachableFromGuest(address: string): boolean {
  return isIPv4(address) && !/^(0|127|169\.254)\./.test(address);
}
