import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';

export const GPUS = ['0000:10:00.0', '0000:11:00.0', '0000:12:00.0', '0000:13:00.0'] as const;
export const DRIVES = ['0000:60:00.0', '0000:61:00.0'] as const;

/** A minimal inventory: only the devices. */
export function makeInventory(): Inventory {
  return {
    devices: [
      ...GPUS.map((address) => ({ kind: 'gpu', address })),
      ...DRIVES.map((address, index) => ({ kind: 'drive', address, serial: `SIM000${index}` })),
    ],
  };
}
