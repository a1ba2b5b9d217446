import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { InterfaceSpec } from '../../spec.ts';
import { createHostNetwork, type HostNetworkOptions } from '../host-network.ts';
import { tapName } from '../kernel/names.ts';
import { Guest } from './guest.ts';

const exec = promisify(execFile);
let labs = 0;

/**
 * A host in a namespace, an outside behind its uplink, and guests in their own namespaces, whose
 * cables end in place of their taps. `close` removes everything.
 */
export async function openLab() {
  labs += 1;
  const prefix = `gnl${process.pid % 100_000}-${labs}`;
  const namespaces: string[] = [];
  const guests: Guest[] = [];

  const addNamespace = async (name: string) => {
    const netns = `${prefix}-${name}`;
    await exec('ip', ['netns', 'add', netns]);
    namespaces.push(netns);
    await exec('ip', ['-n', netns, 'link', 'set', 'lo', 'up']);
    return netns;
  };
  const addGuest = (netns: string) => {
    const guest = new Guest(netns);
    guests.push(guest);
    return guest;
  };

  const close = async () => {
    for (const guest of guests) guest.end();
    for (const netns of namespaces.splice(0)) await exec('ip', ['netns', 'delete', netns]);
  };

  const ip = async (netns: string, line: string) =>
    (await exec('ip', ['-n', netns, ...line.split(' ')])).stdout;
  const connect = async () => {
    const host = await addNamespace('host');
    const outside = await addNamespace('outside');
    await ip(host, `link add name uplink type veth peer name eth0 netns ${outside}`);
    await ip(host, 'address add 192.0.2.1/24 dev uplink');
    // Its IPv6 address would become ready at some later time, between two snapshots of the host.
    await exec('ip', [
      'netns',
      'exec',
      host,
      'sysctl',
      '-eqw',
      'net.ipv6.conf.uplink.disable_ipv6=1',
    ]);
    await ip(host, 'link set dev uplink up');
    await ip(outside, 'address add 192.0.2.2/24 dev eth0');
    await ip(outside, 'link set eth0 up');
    // What a router would do for public addresses.
    await ip(outside, 'route add 198.51.100.0/24 via 192.0.2.1');
    return { host, outside };
  };
  const { host, outside } = await connect().catch(async (error) => {
    await close();
    throw error;
  });

  return {
    host: addGuest(host),
    outside: addGuest(outside),
    ip: (line: string) => ip(host, line),
    nft: async (...args: string[]) =>
      (await exec('ip', ['netns', 'exec', host, 'nft', ...args])).stdout,
    network: (options: HostNetworkOptions = {}) =>
      createHostNetwork({ netns: host, uplink: 'uplink', ...options }),
    /** Configures the far end of an interface, as its guest would. */
    async addGuest(iface: InterfaceSpec): Promise<Guest> {
      const netns = await addNamespace(iface.id);
      const peer = `peer name eth0 address ${iface.mac} netns ${netns}`;
      await ip(host, `link add ${tapName(iface.id)} type veth ${peer}`);
      await ip(netns, `address add ${iface.privateIpv4} dev eth0`);
      await ip(netns, 'link set eth0 mtu 1450 up');
      if (iface.gatewayIpv4) await ip(netns, `route add default via ${iface.gatewayIpv4}`);
      return addGuest(netns);
    },
    close,
  };
}

export type Lab = Awaited<ReturnType<typeof openLab>>;
