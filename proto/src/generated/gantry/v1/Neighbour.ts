// Original file: gantry/v1/host.proto


export interface Neighbour {
  'privateIpv4'?: (string);
  'mac'?: (string);
  'hostIpv4'?: (string);
}

export interface Neighbour__Output {
  'privateIpv4': (string);
  'mac': (string);
  'hostIpv4': (string);
}
