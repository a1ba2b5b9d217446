// Original file: gantry/v1/host.proto

import type { PciDevice as _gantry_v1_PciDevice, PciDevice__Output as _gantry_v1_PciDevice__Output } from '../../gantry/v1/PciDevice.ts';

export interface Gpu {
  'pci'?: (_gantry_v1_PciDevice | null);
  'nvlinkPeer'?: (string);
  'vendorWarnings'?: (string)[];
}

export interface Gpu__Output {
  'pci': (_gantry_v1_PciDevice__Output | null);
  'nvlinkPeer': (string);
  'vendorWarnings': (string)[];
}
