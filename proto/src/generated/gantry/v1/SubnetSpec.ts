// Original file: gantry/v1/host.proto


export interface SubnetSpec {
  'cidr'?: (string);
  'gatewayIpv4'?: (string);
}

export interface SubnetSpec__Output {
  'cidr': (string);
  'gatewayIpv4': (string);
}
