// Original file: gantry/v1/host.proto

import type { DiskKind as _gantry_v1_DiskKind, DiskKind__Output as _gantry_v1_DiskKind__Output } from '../../gantry/v1/DiskKind.ts';
import type { Long } from '@grpc/proto-loader';

export interface DiskLimits {
  'kind'?: (_gantry_v1_DiskKind);
  'totalIops'?: (number | string | Long);
  'readIops'?: (number | string | Long);
  'writeIops'?: (number | string | Long);
  'totalBytesPerSecond'?: (number | string | Long);
  'readBytesPerSecond'?: (number | string | Long);
  'writeBytesPerSecond'?: (number | string | Long);
  'iopsPerGib'?: (number | string | Long);
  'bytesPerSecondPerGib'?: (number | string | Long);
  'burstPercent'?: (number);
  'burstSeconds'?: (number);
}

export interface DiskLimits__Output {
  'kind': (_gantry_v1_DiskKind__Output);
  'totalIops': (string);
  'readIops': (string);
  'writeIops': (string);
  'totalBytesPerSecond': (string);
  'readBytesPerSecond': (string);
  'writeBytesPerSecond': (string);
  'iopsPerGib': (string);
  'bytesPerSecondPerGib': (string);
  'burstPercent': (number);
  'burstSeconds': (number);
}
