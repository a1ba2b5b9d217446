// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface DiskRestore {
  'id'?: (string);
  'diskId'?: (string);
  'snapshotId'?: (string);
  'sizeBytes'?: (number | string | Long);
}

export interface DiskRestore__Output {
  'id': (string);
  'diskId': (string);
  'snapshotId': (string);
  'sizeBytes': (string);
}
