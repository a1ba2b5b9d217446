// Original file: gantry/v1/host.proto

import type { DiskKind as _gantry_v1_DiskKind, DiskKind__Output as _gantry_v1_DiskKind__Output } from '../../gantry/v1/DiskKind.ts';
import type { Long } from '@grpc/proto-loader';

export interface StoragePool {
  'name'?: (string);
  'diskKinds'?: (_gantry_v1_DiskKind)[];
  'sizeBytes'?: (number | string | Long);
  'freeBytes'?: (number | string | Long);
  'offeredBytes'?: (number | string | Long);
  'lacksSnapshots'?: (string);
}

export interface StoragePool__Output {
  'name': (string);
  'diskKinds': (_gantry_v1_DiskKind__Output)[];
  'sizeBytes': (string);
  'freeBytes': (string);
  'offeredBytes': (string);
  'lacksSnapshots': (string);
}
