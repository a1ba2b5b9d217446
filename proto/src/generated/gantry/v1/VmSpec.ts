// Original file: gantry/v1/host.proto

import type { DeviceRef as _gantry_v1_DeviceRef, DeviceRef__Output as _gantry_v1_DeviceRef__Output } from '../../gantry/v1/DeviceRef.ts';
import type { DiskSpec as _gantry_v1_DiskSpec, DiskSpec__Output as _gantry_v1_DiskSpec__Output } from '../../gantry/v1/DiskSpec.ts';
import type { InterfaceSpec as _gantry_v1_InterfaceSpec, InterfaceSpec__Output as _gantry_v1_InterfaceSpec__Output } from '../../gantry/v1/InterfaceSpec.ts';
import type { Image as _gantry_v1_Image, Image__Output as _gantry_v1_Image__Output } from '../../gantry/v1/Image.ts';
import type { NumaShare as _gantry_v1_NumaShare, NumaShare__Output as _gantry_v1_NumaShare__Output } from '../../gantry/v1/NumaShare.ts';
import type { Long } from '@grpc/proto-loader';

export interface VmSpec {
  'id'?: (string);
  'revision'?: (number | string | Long);
  'generation'?: (number | string | Long);
  'name'?: (string);
  'cpuCores'?: (number);
  'memoryMib'?: (number);
  'devices'?: (_gantry_v1_DeviceRef)[];
  'disks'?: (_gantry_v1_DiskSpec)[];
  'interfaces'?: (_gantry_v1_InterfaceSpec)[];
  'image'?: (_gantry_v1_Image | null);
  'sshPublicKey'?: (string);
  'startupScript'?: (string);
  'shutdownScript'?: (string);
  'numaShares'?: (_gantry_v1_NumaShare)[];
  'projectId'?: (string);
  'type'?: (string);
  'imageId'?: (string);
  'needs'?: (string)[];
  'nestedVirtualization'?: (boolean);
  'sshKeys'?: (string)[];
  'userData'?: (string);
}

export interface VmSpec__Output {
  'id': (string);
  'revision': (string);
  'generation': (string);
  'name': (string);
  'cpuCores': (number);
  'memoryMib': (number);
  'devices': (_gantry_v1_DeviceRef__Output)[];
  'disks': (_gantry_v1_DiskSpec__Output)[];
  'interfaces': (_gantry_v1_InterfaceSpec__Output)[];
  'image': (_gantry_v1_Image__Output | null);
  'sshPublicKey': (string);
  'startupScript': (string);
  'shutdownScript': (string);
  'numaShares': (_gantry_v1_NumaShare__Output)[];
  'projectId': (string);
  'type': (string);
  'imageId': (string);
  'needs': (string)[];
  'nestedVirtualization': (boolean);
  'sshKeys': (string)[];
  'userData': (string);
}
