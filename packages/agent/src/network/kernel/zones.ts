import { networkNumber } from './names.ts';

const ZONES = 65_535;

/**
 * A number of its own for each network's connections: two tenants may have the same addresses, and
 * what one opened must not pass for a reply at the other. It follows from the id, so that open
 * connections outlive a change of the rules; only where two ids meet does the later one move on.
 */
export function assignZones(networkIds: readonly string[]): Map<string, number> {
  const zones = new Map<string, number>();
  const taken = new Set<number>();
  for (const id of [...new Set(networkIds)].sort()) {
    let zone = (networkNumber(id) % ZONES) + 1;
    while (taken.has(zone)) zone = (zone % ZONES) + 1;
    taken.add(zone);
    zones.set(id, zone);
  }
  return zones;
}
