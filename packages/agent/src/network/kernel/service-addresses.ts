import { formatIpv4, parseIpv4 } from '@gantry/model/cidr';
import { assignZones } from './zones.ts';

/**
 * Where guests ask the host: for their address by DHCP, and for who they are by HTTP. It is not the
 * host's own address, since a host may have such a service of its own to ask.
 */
export const METADATA_ADDRESS = '169.254.169.254';

/** Where the agent listens, at the host's address towards guests. IANA gives this port to nobody. */
export const SERVICE_PORT = 254;

/**
 * What guests are called while they talk to the agent, one address per interface of the host, since
 * two tenants may have the same: no network has a use for these. They are put into guests' packets
 * at the tap, and taken out again on the way back, so that nothing but the tap decides who asks.
 */
export const SERVICE_BLOCK = '240.0.0.0/16';

const FIRST = parseIpv4('240.0.0.0') ?? 0;
const SIZE = 2 ** 16;

export function isServiceAddress(address: number): boolean {
  return address >= FIRST && address < FIRST + SIZE;
}

/** They follow from the ids, as zones do: another interface that comes or goes changes no other's. */
export function assignServiceAddresses(nicIds: readonly string[]): Map<string, string> {
  return new Map([...assignZones(nicIds)].map(([id, number]) => [id, formatIpv4(FIRST + number)]));
}
