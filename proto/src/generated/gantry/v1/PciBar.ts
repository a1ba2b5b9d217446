// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface PciBar {
  'index'?: (number);
  'sizeBytes'?: (number | string | Long);
  'is_64bit'?: (boolean);
  'prefetchable'?: (boolean);
}

export interface PciBar__Output {
  'index': (number);
  'sizeBytes': (string);
  'is_64bit': (boolean);
  'prefetchable': (boolean);
}
