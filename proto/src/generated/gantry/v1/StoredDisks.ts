// Original file: gantry/v1/host.proto


export interface StoredDisks {
  'ids'?: (string)[];
}

export interface StoredDisks__Output {
  'ids': (string)[];
}
