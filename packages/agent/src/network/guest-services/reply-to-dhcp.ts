import { isIPv4 } from 'node:net';
import { formatIpv4, parseCidr } from '@gantry/model/cidr';
import { METADATA_ADDRESS } from '../kernel/service-addresses.ts';
import type { VmInterface } from '../parse-interface.ts';
import { type DhcpOption, type DhcpReply, type DhcpRequest, ipv4Bytes } from './dhcp-message.ts';

/** What one interface receives. */
export type Lease = {
  iface: VmInterface;
  nameservers: readonly string[];
  mtu: number;
  /** Null: the host does not know the VM's name. */
  hostName: string | null;
};

/**
 * A guest renews after half of this time; the address belongs to the interface for as long as it
 * exists.
 */
const LEASE_S = 12 * 60 * 60;
/** More than any client asks for; an option holds 255 bytes. */
const MOST_NAMESERVERS = 8;
const HOST_NAME = /^[0-9A-Za-z-]{1,63}$/;

/**
 * Returns the reply to a DHCP request, or null. An interface has the one address of its spec, so no
 * leases are stored, and every agent gives the same reply. A release or a decline changes nothing.
 */
export function replyToDhcp(request: DhcpRequest, lease: Lease): DhcpReply | null {
  const { iface } = lease;
  if (request.mac !== iface.mac) return null;
  if (request.kind === 'discover') return give('offer', lease);
  if (request.kind === 'inform') {
    const isItself = request.address === iface.address;
    return isItself ? { kind: 'ack', address: null, options: describe(lease) } : null;
  }
  if (request.server !== null && request.server !== METADATA_ADDRESS) return null;
  const isOwn = (request.requested ?? request.address) === iface.address;
  return isOwn ? give('ack', lease) : { kind: 'nak', address: null, options: [] };
}

function give(kind: 'offer' | 'ack', lease: Lease): DhcpReply {
  const options = [option.leaseTime(LEASE_S), ...describe(lease)];
  return { kind, address: lease.iface.address, options };
}

const option = {
  mask: (address: string): DhcpOption => [1, ipv4Bytes([address])],
  router: (address: string): DhcpOption => [3, ipv4Bytes([address])],
  nameservers: (addresses: readonly string[]): DhcpOption => [6, ipv4Bytes(addresses)],
  hostName: (name: string): DhcpOption => [12, Buffer.from(name)],
  mtu: (bytes: number): DhcpOption => [26, Buffer.from([bytes >> 8, bytes & 0xff])],
  leaseTime: (seconds: number): DhcpOption => [51, number32(seconds)],
  routes: (routes: readonly Buffer[]): DhcpOption => [121, Buffer.concat(routes)],
};

function describe({ iface, nameservers, mtu, hostName }: Lease): DhcpOption[] {
  const { gateway } = iface;
  const block = parseCidr(iface.subnet);
  const resolvers = nameservers.filter(isIPv4).slice(0, MOST_NAMESERVERS);
  return [
    option.mask(formatIpv4(2 ** 32 - 2 ** (32 - (block?.prefix ?? 32)))),
    ...(gateway === null ? [] : [option.router(gateway)]),
    ...(resolvers.length === 0 ? [] : [option.nameservers(resolvers)]),
    ...(hostName !== null && HOST_NAME.test(hostName) ? [option.hostName(hostName)] : []),
    option.mtu(mtu),
    // A client that supports these routes ignores the router option (RFC 3442), so it is among
    // them.
    option.routes([
      route(`${METADATA_ADDRESS}/32`, gateway),
      ...(gateway === null ? [] : [route('0.0.0.0/0', gateway)]),
    ]),
  ];
}

/**
 * Writes as many bytes of the destination as its prefix covers. Without a gateway the destination
 * is on the link.
 */
function route(cidr: string, gateway: string | null): Buffer {
  const [address = '', prefix = ''] = cidr.split('/');
  const significant = ipv4Bytes([address]).subarray(0, Math.ceil(Number(prefix) / 8));
  return Buffer.concat([Buffer.from([Number(prefix)]), significant, ipv4Bytes([gateway ?? ''])]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
