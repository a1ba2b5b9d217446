// Original file: gantry/v1/host.proto


export interface InterfaceSpec {
  'id'?: (string);
  'networkId'?: (string);
  'mac'?: (string);
  'privateIpv4'?: (string);
  'gatewayIpv4'?: (string);
  'publicIpv4'?: (string);
  'bandwidthMbps'?: (number);
}

export interface InterfaceSpec__Output {
  'id': (string);
  'networkId': (string);
  'mac': (string);
  'privateIpv4': (string);
  'gatewayIpv4': (string);
  'publicIpv4': (string);
  'bandwidthMbps': (number);
}
