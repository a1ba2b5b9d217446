// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface Failure {
  'code'?: (string);
  'message'?: (string);
  'sinceMs'?: (number | string | Long);
}

export interface Failure__Output {
  'code': (string);
  'message': (string);
  'sinceMs': (string);
}
