// Original file: gantry/v1/host.proto

import type { HugepagePool as _gantry_v1_HugepagePool, HugepagePool__Output as _gantry_v1_HugepagePool__Output } from '../../gantry/v1/HugepagePool.ts';
import type { Long } from '@grpc/proto-loader';

export interface NumaNode {
  'id'?: (number);
  'cpus'?: (string);
  'memoryBytes'?: (number | string | Long);
  'hugepages'?: (_gantry_v1_HugepagePool)[];
  'offeredCores'?: (number);
  'offeredMemoryMib'?: (number);
  'socket'?: (number);
  'distances'?: (number)[];
  '_offeredCores'?: "offeredCores";
  '_offeredMemoryMib'?: "offeredMemoryMib";
  '_socket'?: "socket";
}

export interface NumaNode__Output {
  'id': (number);
  'cpus': (string);
  'memoryBytes': (string);
  'hugepages': (_gantry_v1_HugepagePool__Output)[];
  'offeredCores'?: (number);
  'offeredMemoryMib'?: (number);
  'socket'?: (number);
  'distances': (number)[];
  '_offeredCores'?: "offeredCores";
  '_offeredMemoryMib'?: "offeredMemoryMib";
  '_socket'?: "socket";
}
