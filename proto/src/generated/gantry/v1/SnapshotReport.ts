// Original file: gantry/v1/host.proto

import type { SnapshotState as _gantry_v1_SnapshotState, SnapshotState__Output as _gantry_v1_SnapshotState__Output } from '../../gantry/v1/SnapshotState.ts';
import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';

export interface SnapshotReport {
  'id'?: (string);
  'state'?: (_gantry_v1_SnapshotState);
  'failure'?: (_gantry_v1_Failure | null);
}

export interface SnapshotReport__Output {
  'id': (string);
  'state': (_gantry_v1_SnapshotState__Output);
  'failure': (_gantry_v1_Failure__Output | null);
}
