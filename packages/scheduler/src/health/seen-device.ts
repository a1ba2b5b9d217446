import type { DeviceKind } from '@gantry/model/host-states';
import type { DriveHealth__Output } from '@gantry/proto/generated/gantry/v1/DriveHealth';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { PciDevice__Output } from '@gantry/proto/generated/gantry/v1/PciDevice';

/** The part of an inventory that describes the health of one device. */
export type SeenDevice = {
  kind: DeviceKind;
  pci: PciDevice__Output;
  /** Empty for a GPU, and for a drive whose serial number cannot be read. */
  serial: string;
  vendorWarnings: readonly string[];
  driveHealth: DriveHealth__Output | null;
};

/** By address. A stored inventory may lack fields that were added to the protocol later. */
export function seenDevices(inventory: Inventory__Output | null): Map<string, SeenDevice> {
  const seen = new Map<string, SeenDevice>();
  for (const { pci, vendorWarnings } of inventory?.gpus ?? []) {
    if (!pci) continue;
    seen.set(pci.address, {
      kind: 'gpu',
      pci,
      serial: '',
      vendorWarnings: vendorWarnings ?? [],
      driveHealth: null,
    });
  }
  for (const { pci, serial, health } of inventory?.nvmes ?? []) {
    if (!pci) continue;
    seen.set(pci.address, {
      kind: 'drive',
      pci,
      serial,
      vendorWarnings: [],
      driveHealth: health ?? null,
    });
  }
  return seen;
}
