// Original file: gantry/v1/host.proto

import type { VmDesiredState as _gantry_v1_VmDesiredState, VmDesiredState__Output as _gantry_v1_VmDesiredState__Output } from '../../gantry/v1/VmDesiredState.ts';
import type { DiskSpec as _gantry_v1_DiskSpec, DiskSpec__Output as _gantry_v1_DiskSpec__Output } from '../../gantry/v1/DiskSpec.ts';
import type { NicSpec as _gantry_v1_NicSpec, NicSpec__Output as _gantry_v1_NicSpec__Output } from '../../gantry/v1/NicSpec.ts';
import type { Image as _gantry_v1_Image, Image__Output as _gantry_v1_Image__Output } from '../../gantry/v1/Image.ts';
import type { Long } from '@grpc/proto-loader';

export interface VmSpec {
  'id'?: (string);
  'generation'?: (number | string | Long);
  'desiredState'?: (_gantry_v1_VmDesiredState);
  'name'?: (string);
  'cpuCores'?: (number);
  'memoryMib'?: (number);
  'gpus'?: (string)[];
  'nvmes'?: (string)[];
  'disks'?: (_gantry_v1_DiskSpec)[];
  'nics'?: (_gantry_v1_NicSpec)[];
  'image'?: (_gantry_v1_Image | null);
  'sshPublicKey'?: (string);
  'startupScript'?: (string);
  'shutdownScript'?: (string);
}

export interface VmSpec__Output {
  'id': (string);
  'generation': (string);
  'desiredState': (_gantry_v1_VmDesiredState__Output);
  'name': (string);
  'cpuCores': (number);
  'memoryMib': (number);
  'gpus': (string)[];
  'nvmes': (string)[];
  'disks': (_gantry_v1_DiskSpec__Output)[];
  'nics': (_gantry_v1_NicSpec__Output)[];
  'image': (_gantry_v1_Image__Output | null);
  'sshPublicKey': (string);
  'startupScript': (string);
  'shutdownScript': (string);
}
