// Original file: gantry/v1/host.proto

import type { FreezeState as _gantry_v1_FreezeState, FreezeState__Output as _gantry_v1_FreezeState__Output } from '../../gantry/v1/FreezeState.ts';
import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';

export interface FreezeReport {
  'id'?: (string);
  'state'?: (_gantry_v1_FreezeState);
  'failure'?: (_gantry_v1_Failure | null);
}

export interface FreezeReport__Output {
  'id': (string);
  'state': (_gantry_v1_FreezeState__Output);
  'failure': (_gantry_v1_Failure__Output | null);
}
