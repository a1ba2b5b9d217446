// Original file: gantry/v1/host.proto

import type { Neighbour as _gantry_v1_Neighbour, Neighbour__Output as _gantry_v1_Neighbour__Output } from '../../gantry/v1/Neighbour.ts';
import type { Long } from '@grpc/proto-loader';

export interface NetworkMembers {
  'networkId'?: (string);
  'version'?: (number | string | Long);
  'baseVersion'?: (number | string | Long);
  'changed'?: (_gantry_v1_Neighbour)[];
  'removed'?: (string)[];
}

export interface NetworkMembers__Output {
  'networkId': (string);
  'version': (string);
  'baseVersion': (string);
  'changed': (_gantry_v1_Neighbour__Output)[];
  'removed': (string)[];
}
