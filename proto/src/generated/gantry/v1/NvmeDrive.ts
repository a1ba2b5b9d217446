// Original file: gantry/v1/host.proto

import type { PciDevice as _gantry_v1_PciDevice, PciDevice__Output as _gantry_v1_PciDevice__Output } from '../../gantry/v1/PciDevice.ts';
import type { DriveHealth as _gantry_v1_DriveHealth, DriveHealth__Output as _gantry_v1_DriveHealth__Output } from '../../gantry/v1/DriveHealth.ts';
import type { Long } from '@grpc/proto-loader';

export interface NvmeDrive {
  'pci'?: (_gantry_v1_PciDevice | null);
  'serial'?: (string);
  'model'?: (string);
  'firmware'?: (string);
  'sizeBytes'?: (number | string | Long);
  'uses'?: (string)[];
  'blockSize'?: (number);
  'health'?: (_gantry_v1_DriveHealth | null);
}

export interface NvmeDrive__Output {
  'pci': (_gantry_v1_PciDevice__Output | null);
  'serial': (string);
  'model': (string);
  'firmware': (string);
  'sizeBytes': (string);
  'uses': (string)[];
  'blockSize': (number);
  'health': (_gantry_v1_DriveHealth__Output | null);
}
