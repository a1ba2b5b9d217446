// Original file: gantry/v1/host.proto


export interface CephfsShare {
  'monitors'?: (string)[];
  'fileSystem'?: (string);
  'pool'?: (string);
  'path'?: (string);
  'user'?: (string);
  'key'?: (string);
}

export interface CephfsShare__Output {
  'monitors': (string)[];
  'fileSystem': (string);
  'pool': (string);
  'path': (string);
  'user': (string);
  'key': (string);
}
