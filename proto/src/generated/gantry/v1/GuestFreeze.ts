// Original file: gantry/v1/host.proto


export interface GuestFreeze {
  'id'?: (string);
  'vmId'?: (string);
  'release'?: (boolean);
  'timeLimitSeconds'?: (number);
}

export interface GuestFreeze__Output {
  'id': (string);
  'vmId': (string);
  'release': (boolean);
  'timeLimitSeconds': (number);
}
