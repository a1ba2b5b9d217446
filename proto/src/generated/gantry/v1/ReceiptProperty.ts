// Original file: gantry/v1/host.proto


export interface ReceiptProperty {
  'name'?: (string);
  'state'?: (string);
  'detail'?: (string);
}

export interface ReceiptProperty__Output {
  'name': (string);
  'state': (string);
  'detail': (string);
}
