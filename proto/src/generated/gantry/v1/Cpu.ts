// Original file: gantry/v1/host.proto


export interface Cpu {
  'model'?: (string);
  'architecture'?: (string);
  'sockets'?: (number);
  'cores'?: (number);
  'threads'?: (number);
}

export interface Cpu__Output {
  'model': (string);
  'architecture': (string);
  'sockets': (number);
  'cores': (number);
  'threads': (number);
}
