import { isIP } from 'node:net';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { GuestNetworkSettings } from '../seed/network-config.ts';
import { DEFAULT_MTU } from './host-network.ts';

/** The smallest MTU that every IPv4 host must accept, and the largest frame of common hardware. */
const MTU = { min: 576, max: 9216 };

/** Reads the network settings that guests receive. */
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
      `GANTRY_NAMESERVERS must be IP addresses separated by commas; "${bad}" is not one`,
    );
  }
  const mtu = reader.integer('GANTRY_GUEST_MTU', { fallback: DEFAULT_MTU, ...MTU });
  return { nameservers, mtu };
}
