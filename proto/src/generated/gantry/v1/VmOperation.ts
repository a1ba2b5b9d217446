// Original file: gantry/v1/host.proto


export interface VmOperation {
  'vmId'?: (string);
  'operationId'?: (string);
}

export interface VmOperation__Output {
  'vmId': (string);
  'operationId': (string);
}
