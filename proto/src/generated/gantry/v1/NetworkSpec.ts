// Original file: gantry/v1/host.proto

import type { SubnetSpec as _gantry_v1_SubnetSpec, SubnetSpec__Output as _gantry_v1_SubnetSpec__Output } from '../../gantry/v1/SubnetSpec.ts';
import type { Neighbour as _gantry_v1_Neighbour, Neighbour__Output as _gantry_v1_Neighbour__Output } from '../../gantry/v1/Neighbour.ts';

export interface NetworkSpec {
  'id'?: (string);
  'vni'?: (number);
  'subnets'?: (_gantry_v1_SubnetSpec)[];
  'neighbours'?: (_gantry_v1_Neighbour)[];
  'membersApart'?: (boolean);
}

export interface NetworkSpec__Output {
  'id': (string);
  'vni': (number);
  'subnets': (_gantry_v1_SubnetSpec__Output)[];
  'neighbours': (_gantry_v1_Neighbour__Output)[];
  'membersApart': (boolean);
}
