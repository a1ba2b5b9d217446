import type { Devices } from '../host-driver.ts';
import type { InventoryHost } from './kinds/kind-driver.ts';

/** What the inventory reports about devices and sysfs does not show. */
export function statesOfDevices(
  devices: Pick<Devices, 'list' | 'stuckReason'>,
): Pick<InventoryHost, 'isAssigned' | 'stuckReason'> {
  return {
    isAssigned: async (address) =>
      (await devices.list()).some((device) => device.address === address),
    stuckReason: async (address) => (await devices.stuckReason?.(address)) ?? null,
  };
}
