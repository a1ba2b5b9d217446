// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface DeletedVm {
  'id'?: (string);
  'revision'?: (number | string | Long);
  'graceful'?: (boolean);
  'gpus'?: (string)[];
  'nvmes'?: (string)[];
  'disks'?: (string)[];
}

export interface DeletedVm__Output {
  'id': (string);
  'revision': (string);
  'graceful': (boolean);
  'gpus': (string)[];
  'nvmes': (string)[];
  'disks': (string)[];
}
