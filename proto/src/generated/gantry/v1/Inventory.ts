// Original file: gantry/v1/host.proto

import type { Cpu as _gantry_v1_Cpu, Cpu__Output as _gantry_v1_Cpu__Output } from '../../gantry/v1/Cpu.ts';
import type { NumaNode as _gantry_v1_NumaNode, NumaNode__Output as _gantry_v1_NumaNode__Output } from '../../gantry/v1/NumaNode.ts';
import type { Device as _gantry_v1_Device, Device__Output as _gantry_v1_Device__Output } from '../../gantry/v1/Device.ts';
import type { Nic as _gantry_v1_Nic, Nic__Output as _gantry_v1_Nic__Output } from '../../gantry/v1/Nic.ts';
import type { Software as _gantry_v1_Software, Software__Output as _gantry_v1_Software__Output } from '../../gantry/v1/Software.ts';
import type { StoragePool as _gantry_v1_StoragePool, StoragePool__Output as _gantry_v1_StoragePool__Output } from '../../gantry/v1/StoragePool.ts';
import type { Long } from '@grpc/proto-loader';

export interface Inventory {
  'cpu'?: (_gantry_v1_Cpu | null);
  'numaNodes'?: (_gantry_v1_NumaNode)[];
  'memoryBytes'?: (number | string | Long);
  'devices'?: (_gantry_v1_Device)[];
  'nics'?: (_gantry_v1_Nic)[];
  'software'?: (_gantry_v1_Software | null);
  'sharedStorage'?: (boolean);
  'underlayIpv4'?: (string);
  'enforcesBandwidth'?: (boolean);
  'storagePools'?: (_gantry_v1_StoragePool)[];
  'lacksNesting'?: (boolean);
  'storageIpv4'?: (string);
}

export interface Inventory__Output {
  'cpu': (_gantry_v1_Cpu__Output | null);
  'numaNodes': (_gantry_v1_NumaNode__Output)[];
  'memoryBytes': (string);
  'devices': (_gantry_v1_Device__Output)[];
  'nics': (_gantry_v1_Nic__Output)[];
  'software': (_gantry_v1_Software__Output | null);
  'sharedStorage': (boolean);
  'underlayIpv4': (string);
  'enforcesBandwidth': (boolean);
  'storagePools': (_gantry_v1_StoragePool__Output)[];
  'lacksNesting': (boolean);
  'storageIpv4': (string);
}
