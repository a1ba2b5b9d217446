// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface AerCounters {
  'correctable'?: (number | string | Long);
  'nonfatal'?: (number | string | Long);
  'fatal'?: (number | string | Long);
}

export interface AerCounters__Output {
  'correctable': (string);
  'nonfatal': (string);
  'fatal': (string);
}
