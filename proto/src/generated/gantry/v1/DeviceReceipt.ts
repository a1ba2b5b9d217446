// Original file: gantry/v1/host.proto

import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';
import type { ReceiptProperty as _gantry_v1_ReceiptProperty, ReceiptProperty__Output as _gantry_v1_ReceiptProperty__Output } from '../../gantry/v1/ReceiptProperty.ts';
import type { Long } from '@grpc/proto-loader';

export interface DeviceReceipt {
  'vmId'?: (string);
  'revision'?: (number | string | Long);
  'kind'?: (string);
  'pciAddress'?: (string);
  'serial'?: (string);
  'method'?: (string);
  'finishedMs'?: (number | string | Long);
  'failure'?: (_gantry_v1_Failure | null);
  'properties'?: (_gantry_v1_ReceiptProperty)[];
}

export interface DeviceReceipt__Output {
  'vmId': (string);
  'revision': (string);
  'kind': (string);
  'pciAddress': (string);
  'serial': (string);
  'method': (string);
  'finishedMs': (string);
  'failure': (_gantry_v1_Failure__Output | null);
  'properties': (_gantry_v1_ReceiptProperty__Output)[];
}
