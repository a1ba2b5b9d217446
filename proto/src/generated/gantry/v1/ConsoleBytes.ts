// Original file: gantry/v1/fleet.proto


export interface ConsoleBytes {
  'data'?: (Buffer | Uint8Array | string);
  'end'?: (string);
}

export interface ConsoleBytes__Output {
  'data': (Buffer);
  'end': (string);
}
