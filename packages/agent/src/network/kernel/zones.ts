import { networkNumber } from './names.ts';

const ZONES = 65_535;

/**
 * Assigns each network its own connection tracking zone: two tenants may have the same addresses,
 * and a connection of one must not pass for a reply at the other. The zone is derived from the id,
 * so that open connections survive a change of the rules; only if two ids collide, the later one
 * moves.
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
