// Original file: gantry/v1/host.proto

import type { Direction as _gantry_v1_Direction, Direction__Output as _gantry_v1_Direction__Output } from '../../gantry/v1/Direction.ts';
import type { Action as _gantry_v1_Action, Action__Output as _gantry_v1_Action__Output } from '../../gantry/v1/Action.ts';

export interface FirewallRule {
  'id'?: (string);
  'networkId'?: (string);
  'direction'?: (_gantry_v1_Direction);
  'action'?: (_gantry_v1_Action);
  'protocols'?: (string)[];
  'sources'?: (string)[];
  'sourcePorts'?: (string)[];
  'destinations'?: (string)[];
  'destinationPorts'?: (string)[];
}

export interface FirewallRule__Output {
  'id': (string);
  'networkId': (string);
  'direction': (_gantry_v1_Direction__Output);
  'action': (_gantry_v1_Action__Output);
  'protocols': (string)[];
  'sources': (string)[];
  'sourcePorts': (string)[];
  'destinations': (string)[];
  'destinationPorts': (string)[];
}
