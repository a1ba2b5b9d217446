// Original file: gantry/v1/host.proto


export interface NetworkReport {
  'id'?: (string);
  'contentHash'?: (string);
}

export interface NetworkReport__Output {
  'id': (string);
  'contentHash': (string);
}
