// Original file: gantry/v1/host.proto


export interface RbdVolume {
  'monitors'?: (string)[];
  'pool'?: (string);
  'image'?: (string);
  'user'?: (string);
  'key'?: (string);
  'passphrase'?: (string);
}

export interface RbdVolume__Output {
  'monitors': (string)[];
  'pool': (string);
  'image': (string);
  'user': (string);
  'key': (string);
  'passphrase': (string);
}
