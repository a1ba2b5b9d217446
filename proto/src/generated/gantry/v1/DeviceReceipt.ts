// Original file: gantry/v1/host.proto

import type { DeviceKind as _gantry_v1_DeviceKind, DeviceKind__Output as _gantry_v1_DeviceKind__Output } from '../../gantry/v1/DeviceKind.ts';
import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';
import type { Long } from '@grpc/proto-loader';

export interface DeviceReceipt {
  'vmId'?: (string);
  'revision'?: (number | string | Long);
  'kind'?: (_gantry_v1_DeviceKind);
  'pciAddress'?: (string);
  'serial'?: (string);
  'method'?: (string);
  'finishedMs'?: (number | string | Long);
  'failure'?: (_gantry_v1_Failure | null);
}

export interface DeviceReceipt__Output {
  'vmId': (string);
  'revision': (string);
  'kind': (_gantry_v1_DeviceKind__Output);
  'pciAddress': (string);
  'serial': (string);
  'method': (string);
  'finishedMs': (string);
  'failure': (_gantry_v1_Failure__Output | null);
}
