import { formatIpv4, parseIpv4 } from '@gantry/model/cidr';
import { assignZones } from './zones.ts';

/**
 * The address at which guests reach the host's services: DHCP for their address, HTTP for metadata.
 * It is not the host's own address, because a host may use such a service itself.
 */
export const METADATA_ADDRESS = '169.254.169.254';

/**
 * The agent listens on this port, at the host's address towards guests. IANA has not assigned it.
 */
export const SERVICE_PORT = 254;

/**
 * The source addresses of guests towards the agent, one per interface of the host, because two
 * tenants may have the same address. No network uses this block. The tap's rules write them into
 * guests' packets and remove them from the replies, so that only the tap decides who asks.
 */
export const SERVICE_BLOCK = '240.0.0.0/16';

const FIRST = parseIpv4('240.0.0.0') ?? 0;
const SIZE = 2 ** 16;

export function isServiceAddress(address: number): boolean {
  return address >= FIRST && address < FIRST + SIZE;
}

/**
 * Derived from the ids, as zones are: an interface that is added or removed does not change the
 * others.
 */
export function assignServiceAddresses(interfaceIds: readonly string[]): Map<string, string> {
  return new Map(
    [...assignZones(interfaceIds)].map(([id, number]) => [id, formatIpv4(FIRST + number)]),
  );
}
