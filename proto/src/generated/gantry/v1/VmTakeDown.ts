// Original file: gantry/v1/host.proto

import type { DeviceRef as _gantry_v1_DeviceRef, DeviceRef__Output as _gantry_v1_DeviceRef__Output } from '../../gantry/v1/DeviceRef.ts';
import type { Long } from '@grpc/proto-loader';

export interface VmTakeDown {
  'id'?: (string);
  'revision'?: (number | string | Long);
  'graceful'?: (boolean);
  'devices'?: (_gantry_v1_DeviceRef)[];
  'disks'?: (string)[];
}

export interface VmTakeDown__Output {
  'id': (string);
  'revision': (string);
  'graceful': (boolean);
  'devices': (_gantry_v1_DeviceRef__Output)[];
  'disks': (string)[];
}
