import { createHash } from 'node:crypto';

/**
 * Names of what the agent creates in the kernel. An interface name has at most 15 characters, so
 * ids are shortened by a hash that is the same on every host and after every restart.
 */
export const BRIDGE_PREFIX = 'gbr';
export const TAP_PREFIX = 'gtap';
export const TUNNEL_PREFIX = 'gvx';
export const bridgeName = (networkId: string): string => `${BRIDGE_PREFIX}${shorten(networkId)}`;
export const tapName = (interfaceId: string): string => `${TAP_PREFIX}${shorten(interfaceId)}`;
export const tunnelName = (networkId: string): string => `${TUNNEL_PREFIX}${shorten(networkId)}`;

/**
 * The router's hardware address, the same on every host, so that a guest that starts on another
 * host finds it unchanged. A bridge without a fixed address changes its address with its ports.
 */
export function bridgeMac(networkId: string): string {
  return macOf(networkId);
}

/**
 * The address of a network's tunnel on the host with this underlay address; other hosts compute it.
 */
export function tunnelMac(vni: number, hostAddress: string): string {
  return macOf(`${vni} ${hostAddress}`);
}

/** A network's packet mark and routing table, above the small numbers that other programs use. */
export function networkNumber(networkId: string): number {
  return SMALLEST_NUMBER + (Number.parseInt(digest(networkId).slice(0, 8), 16) % SMALLEST_NUMBER);
}

export function isNetworkNumber(number: number): boolean {
  return SMALLEST_NUMBER <= number && number < 2 * SMALLEST_NUMBER;
}

const SMALLEST_NUMBER = 0x4000_0000;

/**
 * The host's address towards guests. No address of a subnet is ever the host's own: tenants choose
 * their subnets, and could otherwise choose addresses that the host must reach.
 */
export const HOST_ADDRESS = '169.254.1.1';

/** The alias of a link of the agent, by which a restarted agent finds the owner. */
export const bridgeAlias = (networkId: string): string => `gantry:network:${networkId}`;
export const tunnelAlias = (networkId: string): string => `gantry:tunnel:${networkId}`;
export const tapAlias = (vmId: string, iface: { id: string; address: string }): string =>
  `gantry:${vmId}:${iface.id}:${iface.address}`;

function macOf(text: string): string {
  const pairs = digest(text).slice(0, 10).match(/../g) ?? [];
  return ['02', ...pairs].join(':');
}

function shorten(id: string): string {
  return digest(id).slice(0, 11);
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
