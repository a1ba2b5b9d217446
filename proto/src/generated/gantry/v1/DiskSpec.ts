// Original file: gantry/v1/host.proto

import type { DiskKind as _gantry_v1_DiskKind, DiskKind__Output as _gantry_v1_DiskKind__Output } from '../../gantry/v1/DiskKind.ts';
import type { RbdVolume as _gantry_v1_RbdVolume, RbdVolume__Output as _gantry_v1_RbdVolume__Output } from '../../gantry/v1/RbdVolume.ts';
import type { CephfsShare as _gantry_v1_CephfsShare, CephfsShare__Output as _gantry_v1_CephfsShare__Output } from '../../gantry/v1/CephfsShare.ts';
import type { Long } from '@grpc/proto-loader';

export interface DiskSpec {
  'id'?: (string);
  'kind'?: (_gantry_v1_DiskKind);
  'sizeBytes'?: (number | string | Long);
  'readOnly'?: (boolean);
  'blockSize'?: (number);
  'serialNumber'?: (string);
  'exists'?: (boolean);
  'name'?: (string);
  'rbd'?: (_gantry_v1_RbdVolume | null);
  'cephfs'?: (_gantry_v1_CephfsShare | null);
}

export interface DiskSpec__Output {
  'id': (string);
  'kind': (_gantry_v1_DiskKind__Output);
  'sizeBytes': (string);
  'readOnly': (boolean);
  'blockSize': (number);
  'serialNumber': (string);
  'exists': (boolean);
  'name': (string);
  'rbd': (_gantry_v1_RbdVolume__Output | null);
  'cephfs': (_gantry_v1_CephfsShare__Output | null);
}
