import type { DeviceKind } from '@gantry/model/host-states';
import type { DriveHealth__Output } from '@gantry/proto/generated/gantry/v1/DriveHealth';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { PciDevice__Output } from '@gantry/proto/generated/gantry/v1/PciDevice';

/** What an inventory says of one device, as far as its health shows in it. */
export type SeenDevice = {
  kind: DeviceKind;
  pci: PciDevice__Output;
  /** Empty for a GPU, and for a drive that cannot be asked. */
  serial: string;
  vendorWarnings: readonly string[];
  driveHealth: DriveHealth__Output | null;
};

/** By address. An inventory that was kept may be older than the words that came later. */
export function seenDevices(inventory: Inventory__Output | null): Map<string, SeenDevice> {
  const seen = new Map<string, SeenDevice>();
  for (const { pci, vendorWarnings } of inventory?.gpus ?? []) {
    if (!pci) continue;
    seen.set(pci.address, {
      ...{ kind: 'gpu', pci, serial: '', vendorWarnings: vendorWarnings ?? [], driveHealth: null },
    });
  }
  for (const { pci, serial, health } of inventory?.nvmes ?? []) {
    if (!pci) continue;
    seen.set(pci.address, {
      ...{ kind: 'drive', pci, serial, vendorWarnings: [], driveHealth: health ?? null },
    });
  }
  return seen;
}
