import { createSocket } from 'node:dgram';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../base/failure.ts';
import { programRunner } from '../base/run-program.ts';

/** How a host reaches storage clusters. */
export type StorageNetwork = {
  /** The address that a fence of this host blocks. */
  address: string;
  /** The file with Ceph's settings for QEMU. */
  confFile: string;
  /** Returns the address from which packets to another host leave. Throws if there is no route. */
  sourceAddressTo(address: string): Promise<string>;
};

/** libvirt's AppArmor profile lets QEMU read `/etc/ceph/*.conf`, and no file elsewhere that only `<config>` names. */
export const CEPH_CONF_FILE = '/etc/ceph/gantry.conf';

/**
 * Every wait for monitors ends after 5 s. By default an attempt with a wrong key, or without a monitor that replies,
 * takes 300 s, and the domain can do nothing else meanwhile. There is no such limit for requests to OSDs: a guest that
 * writes during an outage waits, and continues after it without an error.
 */
const CEPH_CONF = `# Written by gantry-agent, which replaces it.
[global]
client_mount_timeout = 5
rados_mon_op_timeout = 5
`;

/** QEMU runs as its own user, and the file has no secret. */
export async function writeCephConf(path: string): Promise<void> {
  if ((await unlessMissing(readFile(path, 'utf8'))) === CEPH_CONF) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await replaceFile(path, CEPH_CONF, 0o644);
}

/**
 * Throws unless the host talks to all monitors from its storage address. A fence blocks that address in the cluster:
 * if QEMU used another one, the fence would not stop it, and two hosts could write to one volume.
 */
export async function requireFenceable(
  { address, sourceAddressTo }: StorageNetwork,
  monitors: readonly string[],
): Promise<void> {
  for (const monitor of monitors) {
    const host = monitorAddress(monitor).host;
    const source = await sourceAddressTo(host).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `this host has no route to the monitor ${monitor}: ${reason}`;
      throw new HostFailure('storage_misrouted', message, { cause });
    });
    if (source === address) continue;
    const message =
      `packets to the monitor ${monitor} leave from ${source}, and a fence of this host blocks ${address}: ` +
      'set GANTRY_STORAGE_ADDRESS to the address that the route uses, or correct the route';
    throw new HostFailure('storage_misrouted', message);
  }
}

/** Splits "10.0.0.1:3300" and "[fd00::1]:3300". */
export function monitorAddress(monitor: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(monitor) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined) return { host, port: Number(port) };
  throw new HostFailure('bad_spec', `${JSON.stringify(monitor)} is not an address with a port`);
}

/** Asks the kernel without sending a packet. */
export async function kernelSourceAddress(address: string): Promise<string> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      // Any port: connecting a datagram socket only chooses the route.
      socket.connect(1, address, resolve);
    });
    return socket.address().address;
  } finally {
    socket.close();
  }
}

/** The same for a network namespace that stands for the host. */
export function namespaceSourceAddress(namespace: string): StorageNetwork['sourceAddressTo'] {
  const run = programRunner('storage_misrouted');
  return async (address) => {
    const text = await run('ip', ['-json', '-n', namespace, 'route', 'get', address]);
    const [route] = JSON.parse(text) as { prefsrc?: string }[];
    return route?.prefsrc ?? '';
  };
}
