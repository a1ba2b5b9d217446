import { isIP } from 'node:net';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { GuestNetworkSettings } from '../seed/network-config.ts';
import { DEFAULT_MTU } from './host-network.ts';

/** The smallest MTU every IPv4 host must take, and the largest frame of common hardware. */
const MTU = { min: 576, max: 9216 };

/** What guests are told of the network they are in. */
export function readGuestNetworkSettings(
  reader: SettingsReader,
): GuestNetworkSettings & { mtu: number } {
  const nameservers = (reader.optional('GANTRY_NAMESERVERS') ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const bad = nameservers.find((address) => isIP(address) === 0);
  if (bad !== undefined) {
    throw new SettingsError(
      `GANTRY_NAMESERVERS must be addresses with commas between them; "${bad}" is none`,
    );
  }
  const mtu = reader.integer('GANTRY_GUEST_MTU', { fallback: DEFAULT_MTU, ...MTU });
  return { nameservers, mtu };
}
