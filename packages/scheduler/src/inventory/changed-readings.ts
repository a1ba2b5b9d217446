import type { DeviceValues } from '@gantry/db/queries/hosts/device-readings';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { type SeenDevice, seenDevices } from '../health/seen-device.ts';

export type DeviceReading = { pciAddress: string; measured: DeviceValues };

/** They change all the time and say little about the past. Prometheus has them. */
const NOT_KEPT = /temperature/;

/** Returns what was read from the devices that are new or whose values differ from those before. */
export function changedReadings(
  before: Inventory__Output | null,
  now: Inventory__Output,
): DeviceReading[] {
  const seenBefore = seenDevices(before);
  return [...seenDevices(now)].flatMap(([pciAddress, device]) => {
    const measured = valuesOf(device);
    const known = seenBefore.get(pciAddress);
    return known && areEqual(valuesOf(known), measured) ? [] : [{ pciAddress, measured }];
  });
}

function valuesOf({ link, aer, health }: SeenDevice): DeviceValues {
  const kept = Object.entries(health).filter(([name]) => !NOT_KEPT.test(name));
  return {
    ...(link && { link_speed_gts: link.speedGts, link_width: link.width }),
    ...(aer && {
      correctable_errors: Number(aer.correctable),
      nonfatal_errors: Number(aer.nonfatal),
      fatal_errors: Number(aer.fatal),
    }),
    ...Object.fromEntries(kept),
  };
}

function areEqual(some: DeviceValues, others: DeviceValues): boolean {
  const names = new Set([...Object.keys(some), ...Object.keys(others)]);
  return [...names].every((name) => some[name] === others[name]);
}
