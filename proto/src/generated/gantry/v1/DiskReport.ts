// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface DiskReport {
  'id'?: (string);
  'sizeBytes'?: (number | string | Long);
}

export interface DiskReport__Output {
  'id': (string);
  'sizeBytes': (string);
}
