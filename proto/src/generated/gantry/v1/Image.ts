// Original file: gantry/v1/host.proto


export interface Image {
  'name'?: (string);
  'url'?: (string);
  'sha256'?: (string);
  'id'?: (string);
}

export interface Image__Output {
  'name': (string);
  'url': (string);
  'sha256': (string);
  'id': (string);
}
