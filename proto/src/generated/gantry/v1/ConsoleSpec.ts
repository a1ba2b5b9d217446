// Original file: gantry/v1/host.proto


export interface ConsoleSpec {
  'id'?: (string);
  'vmId'?: (string);
}

export interface ConsoleSpec__Output {
  'id': (string);
  'vmId': (string);
}
