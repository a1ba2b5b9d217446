import { DEVICE_KINDS, type DeviceKind } from '@gantry/model/host-states';
import type { Device__Output } from '@gantry/proto/generated/gantry/v1/Device';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';

/** A device of an inventory, of a kind that this scheduler knows. */
export type SeenDevice = Device__Output & { kind: DeviceKind };

/**
 * Returns the devices by address. A newer agent may report kinds that this scheduler does not know;
 * they are left out. A stored inventory may lack fields that were added to the protocol later.
 */
export function seenDevices(inventory: Inventory__Output | null): Map<string, SeenDevice> {
  const seen = new Map<string, SeenDevice>();
  for (const device of inventory?.devices ?? []) {
    const kind = DEVICE_KINDS.find((each) => each === device.kind);
    if (!kind) continue;
    const stored = device as Partial<Device__Output>;
    const { serial = '', warnings = [], health = {}, attributes = {} } = stored;
    seen.set(device.address, { ...device, kind, serial, warnings, health, attributes });
  }
  return seen;
}
