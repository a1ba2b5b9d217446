// Original file: gantry/v1/host.proto

import type { DiskSpec as _gantry_v1_DiskSpec, DiskSpec__Output as _gantry_v1_DiskSpec__Output } from '../../gantry/v1/DiskSpec.ts';

export interface DiskCopy {
  'disk'?: (_gantry_v1_DiskSpec | null);
  'snapshotId'?: (string);
}

export interface DiskCopy__Output {
  'disk': (_gantry_v1_DiskSpec__Output | null);
  'snapshotId': (string);
}
