// Original file: gantry/v1/host.proto

import type { PciDevice as _gantry_v1_PciDevice, PciDevice__Output as _gantry_v1_PciDevice__Output } from '../../gantry/v1/PciDevice.ts';
import type { Long } from '@grpc/proto-loader';

export interface NvmeDrive {
  'pci'?: (_gantry_v1_PciDevice | null);
  'serial'?: (string);
  'model'?: (string);
  'firmware'?: (string);
  'sizeBytes'?: (number | string | Long);
}

export interface NvmeDrive__Output {
  'pci': (_gantry_v1_PciDevice__Output | null);
  'serial': (string);
  'model': (string);
  'firmware': (string);
  'sizeBytes': (string);
}
