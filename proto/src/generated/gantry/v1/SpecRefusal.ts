// Original file: gantry/v1/host.proto

import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from '../../gantry/v1/Failure.ts';
import type { Long } from '@grpc/proto-loader';

export interface SpecRefusal {
  'number'?: (number | string | Long);
  'failure'?: (_gantry_v1_Failure | null);
}

export interface SpecRefusal__Output {
  'number': (string);
  'failure': (_gantry_v1_Failure__Output | null);
}
