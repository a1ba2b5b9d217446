// Original file: gantry/v1/host.proto


export interface SerialLog {
  'vmId'?: (string);
  'tail'?: (string);
}

export interface SerialLog__Output {
  'vmId': (string);
  'tail': (string);
}
