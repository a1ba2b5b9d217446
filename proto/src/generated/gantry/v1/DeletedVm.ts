// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface DeletedVm {
  'id'?: (string);
  'generation'?: (number | string | Long);
  'gpus'?: (string)[];
  'nvmes'?: (string)[];
  'disks'?: (string)[];
}

export interface DeletedVm__Output {
  'id': (string);
  'generation': (string);
  'gpus': (string)[];
  'nvmes': (string)[];
  'disks': (string)[];
}
