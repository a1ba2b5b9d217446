// Original file: gantry/v1/host.proto


export interface SpecPiece {
  'hash'?: (string);
  'content'?: (Buffer | Uint8Array | string);
}

export interface SpecPiece__Output {
  'hash': (string);
  'content': (Buffer);
}
