// Original file: gantry/v1/host.proto

import type { VmObservedState as _gantry_v1_VmObservedState, VmObservedState__Output as _gantry_v1_VmObservedState__Output } from '../../gantry/v1/VmObservedState.ts';
import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';
import type { DiskReport as _gantry_v1_DiskReport, DiskReport__Output as _gantry_v1_DiskReport__Output } from '../../gantry/v1/DiskReport.ts';
import type { VmSpec as _gantry_v1_VmSpec, VmSpec__Output as _gantry_v1_VmSpec__Output } from '../../gantry/v1/VmSpec.ts';
import type { Long } from '@grpc/proto-loader';

export interface VmReport {
  'id'?: (string);
  'revision'?: (number | string | Long);
  'generation'?: (number | string | Long);
  'state'?: (_gantry_v1_VmObservedState);
  'failure'?: (_gantry_v1_Failure | null);
  'disks'?: (_gantry_v1_DiskReport)[];
  'known'?: (_gantry_v1_VmSpec | null);
  'contentHash'?: (string);
}

export interface VmReport__Output {
  'id': (string);
  'revision': (string);
  'generation': (string);
  'state': (_gantry_v1_VmObservedState__Output);
  'failure': (_gantry_v1_Failure__Output | null);
  'disks': (_gantry_v1_DiskReport__Output)[];
  'known': (_gantry_v1_VmSpec__Output | null);
  'contentHash': (string);
}
