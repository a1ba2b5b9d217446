// Original file: gantry/v1/host.proto

import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';

export interface DiskOrderReport {
  'id'?: (string);
  'failure'?: (_gantry_v1_Failure | null);
  'givenUp'?: (boolean);
}

export interface DiskOrderReport__Output {
  'id': (string);
  'failure': (_gantry_v1_Failure__Output | null);
  'givenUp': (boolean);
}
