import { SettingsError, type SettingsReader } from '../settings.ts';
import type { AddressRules } from './address-rules.ts';

const NETWORKS: Record<string, AddressRules> = {
  public: { allowsPrivate: false, allowsLoopback: false },
  private: { allowsPrivate: true, allowsLoopback: false },
  any: { allowsPrivate: true, allowsLoopback: true },
};

/** Reads from which addresses tenants may let images be fetched. The api checks URLs, and schedulers fetch. */
export function readImageNetworks(reader: SettingsReader): AddressRules {
  const name = 'GANTRY_IMAGE_NETWORKS';
  const networks = reader.text(name, 'public');
  const rules = Object.hasOwn(NETWORKS, networks) ? NETWORKS[networks] : undefined;
  if (rules) return rules;
  const known = Object.keys(NETWORKS).join(', ');
  throw new SettingsError(`${name} must be one of ${known}, not "${networks}"`);
}
