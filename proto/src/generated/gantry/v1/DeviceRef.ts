// Original file: gantry/v1/host.proto


export interface DeviceRef {
  'kind'?: (string);
  'address'?: (string);
}

export interface DeviceRef__Output {
  'kind': (string);
  'address': (string);
}
