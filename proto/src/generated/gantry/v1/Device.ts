// Original file: gantry/v1/host.proto

import type { PciLink as _gantry_v1_PciLink, PciLink__Output as _gantry_v1_PciLink__Output } from '../../gantry/v1/PciLink.ts';
import type { AerCounters as _gantry_v1_AerCounters, AerCounters__Output as _gantry_v1_AerCounters__Output } from '../../gantry/v1/AerCounters.ts';
import type { PciBar as _gantry_v1_PciBar, PciBar__Output as _gantry_v1_PciBar__Output } from '../../gantry/v1/PciBar.ts';
import type { Long } from '@grpc/proto-loader';

export interface Device {
  'kind'?: (string);
  'address'?: (string);
  'vendorId'?: (string);
  'deviceId'?: (string);
  'subsystemVendorId'?: (string);
  'subsystemDeviceId'?: (string);
  'numaNode'?: (number);
  'iommuGroup'?: (number);
  'iommuGroupOthers'?: (string)[];
  'driver'?: (string);
  'resetMethods'?: (string)[];
  'link'?: (_gantry_v1_PciLink | null);
  'aer'?: (_gantry_v1_AerCounters | null);
  'bridges'?: (string)[];
  'functions'?: (string)[];
  'bars'?: (_gantry_v1_PciBar)[];
  'name'?: (string);
  'lost'?: (boolean);
  'serial'?: (string);
  'model'?: (string);
  'firmware'?: (string);
  'sizeBytes'?: (number | string | Long);
  'uses'?: (string)[];
  'warnings'?: (string)[];
  'health'?: ({[key: string]: number | string});
  'attributes'?: ({[key: string]: string});
  '_numaNode'?: "numaNode";
  '_iommuGroup'?: "iommuGroup";
}

export interface Device__Output {
  'kind': (string);
  'address': (string);
  'vendorId': (string);
  'deviceId': (string);
  'subsystemVendorId': (string);
  'subsystemDeviceId': (string);
  'numaNode'?: (number);
  'iommuGroup'?: (number);
  'iommuGroupOthers': (string)[];
  'driver': (string);
  'resetMethods': (string)[];
  'link': (_gantry_v1_PciLink__Output | null);
  'aer': (_gantry_v1_AerCounters__Output | null);
  'bridges': (string)[];
  'functions': (string)[];
  'bars': (_gantry_v1_PciBar__Output)[];
  'name': (string);
  'lost': (boolean);
  'serial': (string);
  'model': (string);
  'firmware': (string);
  'sizeBytes': (string);
  'uses': (string)[];
  'warnings': (string)[];
  'health': ({[key: string]: number});
  'attributes': ({[key: string]: string});
  '_numaNode'?: "numaNode";
  '_iommuGroup'?: "iommuGroup";
}
